package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"weir/internal/plot"
	"weir/internal/table"
)

func TestSave(t *testing.T) {
	chart, err := plot.Bars(plot.Figure{Title: "Heights"}, plot.Axis{Title: "m"}, []plot.Bar{{Label: "oak", Value: 30}})
	if err != nil {
		t.Fatal(err)
	}
	rows := table.New(table.Left("tree"), table.Right("height, m"))
	rows.Row("oak", 30)
	r := Report{
		Title: "Trees", Intro: "Of two kinds.", Machine: Machine{Processor: "made up", Cores: 2, Command: "measure"}, More: [][2]string{{"weather", "fine"}},
		Sections: []*Section{{Title: "Heights", Text: "In summer.", Plots: []Plot{{File: "heights.svg", Alt: "Bars", Chart: chart}}, Tables: []Table{{Title: "All", Rows: rows, Notes: []string{"A note."}}}}}, End: "The end.",
	}
	dir := filepath.Join(t.TempDir(), "new")
	if err := r.Save(dir, "trees.md"); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "trees.md"))
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for _, want := range []string{
		"# Trees\n\nOf two kinds.\n\n|", "| processor | made up |", "| command | `measure` |", "| weather | fine |\n\n## Heights\n\nIn summer.\n\n![Bars](heights.svg)\n",
		"\n### All\n\n| tree | height, m |", "| oak | 30 |\n\nA note.\n\nThe end.\n",
	} {
		i := strings.Index(string(text)[at:], want)
		if i < 0 {
			t.Fatalf("after %d bytes the report does not say %q:\n%s", at, want, text)
		}
		at += i + len(want)
	}
	if at != len(text) {
		t.Errorf("the report goes on: %q", text[at:])
	}
	if _, err := os.Stat(filepath.Join(dir, "heights.svg")); err != nil {
		t.Error(err)
	}
	var terminal strings.Builder
	if err := r.Sections[0].WriteText(&terminal); err != nil {
		t.Fatal(err)
	}
	if got := terminal.String(); !strings.HasPrefix(got, "\nHeights\n=======\n\nAll\n") || !strings.HasSuffix(got, "\nA note.\n") {
		t.Errorf("on a terminal: %q", got)
	}
}

func TestCommandLineHidesFolders(t *testing.T) {
	got := CommandLine("run.sh", []string{"--prefix", "weir7", "--scale", "22", "--out=/a/b", "/a/c"}, "--prefix")
	if want := "run.sh --scale 22 --out=b c"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func TestDescribe(t *testing.T) {
	m := Describe(t.TempDir(), "measure")
	if m.Cores < 1 || m.Processor == "" || m.Memory == "" || m.Commit != unknown {
		t.Errorf("machine %+v, expected cores, no empty fields, and no commit", m)
	}
}

func TestParseBusy(t *testing.T) {
	busy, err := parseBusy([]byte("cpu  100 1 50 9999 7 2 3 4 5 6\ncpu0 1 1 1 1 1 1 1 1 1 1\n"))
	if err != nil || busy != 1600*time.Millisecond {
		t.Errorf("busy for %v, %v; want 1.6s", busy, err)
	}
	for _, bad := range []string{"", "intr 1 2 3 4 5 6 7 8", "cpu 1 2 3", "cpu 1 2 x 4 5 6 7 8"} {
		if _, err := parseBusy([]byte(bad)); err == nil {
			t.Errorf("statistics %q are accepted", bad)
		}
	}
}
