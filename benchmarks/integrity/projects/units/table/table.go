// Package table writes measured values in columns.
package table

import (
	"fmt"
	"strings"

	"example.com/units/measure"
)

// Row is a name with a temperature in Fahrenheit.
type Row struct {
	Name       string
	Fahrenheit int
}

// Table writes one row a line, the numbers under each other, aligned at the right.
func Table(rows []Row) string {
	var out strings.Builder
	for _, row := range rows {
		fmt.Fprintf(&out, "%-10s%d\n", row.Name, measure.Celsius(row.Fahrenheit))
	}
	return out.String()
}

// Hottest names the row with the highest value, the first of equals.
func Hottest(rows []Row) string {
	if len(rows) == 0 {
		return ""
	}
	best := rows[0]
	for _, row := range rows[1:] {
		if row.Fahrenheit > best.Fahrenheit {
			best = row
		}
	}
	return best.Name
}
