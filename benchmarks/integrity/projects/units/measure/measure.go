// Package measure reads lengths and converts temperatures.
package measure

import (
	"fmt"
	"strconv"
	"strings"
)

var factors = []struct {
	unit   string
	factor int
}{{"km", 1000000}, {"cm", 10}, {"mm", 1}, {"m", 1000}}

// Parse gives the millimetres of "12cm"; a length may be negative.
func Parse(text string) (int, error) {
	for _, each := range factors {
		if !strings.HasSuffix(text, each.unit) {
			continue
		}
		value, err := strconv.ParseUint(strings.TrimSuffix(text, each.unit), 10, 31)
		if err != nil {
			return 0, fmt.Errorf("not a length: %q", text)
		}
		return int(value) * each.factor, nil
	}
	return 0, fmt.Errorf("no unit: %q", text)
}

// Celsius converts whole degrees Fahrenheit, rounded to the nearest.
func Celsius(fahrenheit int) int {
	return (fahrenheit - 32) * 5 / 9
}

// Fahrenheit converts whole degrees Celsius, rounded down.
func Fahrenheit(celsius int) int {
	return celsius*9/5 + 32
}
