package table_test

import (
	"os"
	"testing"

	"example.com/units/table"
)

var rows = []table.Row{{"kitchen", 68}, {"cellar", 41}, {"oven", 392}, {"kiln", 392}}

func golden(t *testing.T, name, got string) {
	t.Helper()
	want, err := os.ReadFile("testdata/" + name + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestTableOfNothing(t *testing.T) {
	if got := table.Table(nil); got != "" {
		t.Errorf("got %q", got)
	}
}

func TestTable(t *testing.T) { golden(t, "rooms", table.Table(rows)) }

func TestHottest(t *testing.T) {
	if got := table.Hottest(rows); got != "oven" {
		t.Errorf("got %q", got)
	}
}

func TestHottestOfNothing(t *testing.T) {
	if got := table.Hottest(nil); got != "" {
		t.Errorf("got %q", got)
	}
}
