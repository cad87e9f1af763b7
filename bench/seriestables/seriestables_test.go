package main

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"weir/internal/program"
	"weir/internal/seriesgen"
	"weir/series/seriesbench"
)

// TestMain lets the test be the processes that the program starts.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "measure" {
		os.Exit(execute(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
	}
	goleak.VerifyTestMain(m)
}

// TestQuick measures everything for a moment, and looks for every row and the plot.
func TestQuick(t *testing.T) {
	dir, stores := t.TempDir(), t.TempDir()
	var stdout, stderr bytes.Buffer
	if code := execute(t.Context(), []string{"--quick", "--threads", "1,2", "--dir", stores, "--out", dir}, &stdout, &stderr); code != program.OK {
		t.Fatalf("exit code %d: %s", code, stderr.String())
	}
	if left, err := os.ReadDir(stores); err != nil || len(left) > 0 {
		t.Errorf("%v, %v left behind", err, left)
	}
	text, err := os.ReadFile(filepath.Join(dir, reportName+".md"))
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	for _, bad := range []string{"NaN", "Inf", "%!", dir, stores} {
		if strings.Contains(page, bad) {
			t.Errorf("the report says %q", bad)
		}
	}
	for _, want := range []string{"go run ./bench/seriestables --quick", "| others | used ", "](" + reportName + "-write.svg)", "Akumuli 0.8.80"} {
		if !strings.Contains(page, want) {
			t.Errorf("the report does not say %q", want)
		}
	}
	rows := cells(page)
	want := [][]string{
		{"10", "1", "yes"}, {"10", "2", "yes"}, {"10", "1", "no"}, {"100", "2", "no"}, // writing
		{"10", "2"}, {"100", "1"}, // ratios
		{"50", "400"},               // many
		{"100", "20,000", "20,000"}, // recovery
		{"mixed", "10", "2,000"},    // size
		{"VictoriaMetrics", "one maximum over all series"},
		{"10", "2,000", seriesbench.WholeMaximum, "all"}, {"100", "200", seriesbench.SelectByTime, "1"}, {"1", "5,000", seriesbench.Spans, "all"},
	}
	for _, want := range want {
		if !slices.ContainsFunc(rows, func(r []string) bool {
			return len(r) > len(want) && slices.Equal(r[:len(want)], want) && r[len(want)] != ""
		}) {
			t.Errorf("no row %q in\n%s", want, page)
		}
	}
	for _, title := range []string{"Writing", "Many series", "Start after a kill", "Size by kind", "Questions", "Goals"} {
		if !strings.Contains(page, "\n## "+title+"\n") || !strings.Contains(stdout.String(), "\n"+title+"\n===") {
			t.Errorf("no section %q in the report or on the terminal", title)
		}
	}
	svg, err := os.ReadFile(filepath.Join(dir, reportName+"-write.svg"))
	if err != nil {
		t.Fatal(err)
	}
	for d := xml.NewDecoder(bytes.NewReader(svg)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// TestGoals makes sure that every goal is looked at by default, and that one that is missed is told apart.
func TestGoals(t *testing.T) {
	run := func(n, threads int, log bool, seconds float64) seriesbench.Run {
		return seriesbench.Run{Series: n, Threads: threads, Log: log, Points: 20e6, Seconds: seconds, Processor: seconds * float64(threads), Bytes: 48e6, VolumeBytes: 48e6, VolumeWritten: 60e6}
	}
	b := &bench{opt: options{Bench: seriesbench.Bench{Series: []int{1000, 100_000}, Threads: []int{1, 2}}}}
	for _, n := range b.opt.Series {
		b.Ingest = append(b.Ingest, run(n, 1, true, 5), run(n, 2, true, 2.5), run(n, 1, false, 4.5), run(n, 2, false, 2.4))
		for _, what := range []string{seriesbench.WholeMaximum, seriesbench.EachMaximum, seriesbench.DecodeAll, seriesbench.SelectBySeries, seriesbench.SelectByTime} {
			b.Reads = append(b.Reads, seriesbench.Read{What: what, Series: n, Points: 20e6, Seconds: 0.0005, Answered: 1e6})
		}
	}
	b.Reads = append(b.Reads, seriesbench.Read{What: seriesbench.Spans, Series: 1, Points: 31e6, Seconds: 0.009, Answered: 400},
		seriesbench.Read{What: seriesbench.DecodeAll, Series: 1, Points: 31e6, Seconds: 0.09, Answered: 31e6})
	b.Sizes = append(b.Sizes, seriesbench.Size{Kind: "mixed", Jitter: seriesbench.Jitter, Series: 1000, Points: 2e6, Bytes: 1e6})
	for kind := range seriesgen.Kinds {
		b.Sizes = append(b.Sizes, seriesbench.Size{Kind: kind.String(), Jitter: seriesbench.Jitter, Series: 1000, Points: 2e6, Bytes: 1e6})
	}
	b.Lives = []seriesbench.Life{{Series: 100_000, Memory: 100 << 20}, {Series: 1_000_000, Memory: 1 << 30, Start: 1}}
	all := b.list()
	if len(all) != 26 {
		t.Errorf("%d goals, expected 26: %+v", len(all), all)
	}
	for _, g := range all {
		if !g.met() {
			t.Errorf("%+v is not met", g)
		}
	}
	b.Lives[0].Memory *= 2
	b.Ingest[0].Seconds, b.Ingest[0].Processor = 7, 7
	var missed []string
	for _, g := range b.list() {
		if !g.met() {
			missed = append(missed, g.what)
		}
	}
	if want := []string{"writing with a log, 1,000 series", "cost of the log, 1,000 series", "memory of 100,000 series"}; !slices.Equal(missed, want) {
		t.Errorf("missed are %q, expected %q", missed, want)
	}
}

// cells are those of all tables of a page, by row.
func cells(page string) [][]string {
	var all [][]string
	for line := range strings.Lines(page) {
		if !strings.HasPrefix(line, "| ") {
			continue
		}
		row := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range row {
			row[i] = strings.TrimSpace(row[i])
		}
		all = append(all, row)
	}
	return all
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{
		{"--points", "5"}, {"--series", "0"}, {"--live", "0"}, {"--threads", "0"}, {"--repetitions", "0"}, {"--seconds", "1"}, {"file"},
		{"measure"}, {"measure", "nonsense"}, {"measure", `{"Part":"why"}`}, {"measure", `{"Part":"ingest"}`},
	} {
		want := program.Usage
		if len(args) == 2 && args[0] == "measure" {
			want = program.Failed
		}
		if code := execute(t.Context(), args, io.Discard, io.Discard); code != want {
			t.Errorf("%v: exit code %d, want %d", args, code, want)
		}
	}
}
