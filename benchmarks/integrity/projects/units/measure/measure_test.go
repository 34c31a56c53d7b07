package measure

import (
	"strings"
	"testing"
)

func parsed(t *testing.T, text string, want int) {
	t.Helper()
	got, err := Parse(text)
	if err != nil || got != want {
		t.Errorf("Parse(%q) = %d, %v; want %d", text, got, err, want)
	}
}

func TestParseMetres(t *testing.T)      { parsed(t, "3m", 3000) }
func TestParseCentimetres(t *testing.T) { parsed(t, "12cm", 120) }
func TestParseKilometres(t *testing.T)  { parsed(t, "2km", 2000000) }
func TestParseNegative(t *testing.T)    { parsed(t, "-4m", -4000) }

func TestParseRefusesUnknownUnit(t *testing.T) {
	if _, err := Parse("4ft"); err == nil || !strings.Contains(err.Error(), "4ft") {
		t.Errorf("Parse(4ft): %v", err)
	}
}

func TestCelsiusAtTheFreezingPoint(t *testing.T) {
	if got := Celsius(32); got != 0 {
		t.Errorf("Celsius(32) = %d", got)
	}
}

func TestCelsiusRounds(t *testing.T) {
	for fahrenheit, want := range map[int]int{1: -17, 33: 1, 100: 38} {
		if got := Celsius(fahrenheit); got != want {
			t.Errorf("Celsius(%d) = %d, want %d", fahrenheit, got, want)
		}
	}
}

func TestFahrenheit(t *testing.T) {
	if got := Fahrenheit(100); got != 212 {
		t.Errorf("Fahrenheit(100) = %d", got)
	}
}
