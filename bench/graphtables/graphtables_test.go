package main

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"weir/graph/generate"
	"weir/graph/ladder"
	"weir/internal/program"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestQuick measures small graphs, and looks for every row of every table.
func TestQuick(t *testing.T) {
	if testing.Short() {
		t.Skip("measures for some seconds")
	}
	t.Setenv(dataVariable, "")
	dir := t.TempDir()
	var stdout, stderr bytes.Buffer
	args := []string{"--quick", "--scale", "10,12", "--kronecker", "12", "--at-least", "0", "--out", dir, "--cache", filepath.Join(dir, "cache")}
	if code := execute(t.Context(), args, &stdout, &stderr); code != program.OK {
		t.Fatalf("exit code %d: %s", code, stderr.String())
	}
	if stderr.Len() > 0 {
		t.Errorf("what is no terminal was shown progress: %q", stderr.String())
	}
	text, err := os.ReadFile(filepath.Join(dir, reportName))
	if err != nil {
		t.Fatal(err)
	}
	report := string(text)
	if strings.Contains(report, dir) || strings.Contains(report, filepath.Dir(dir)) {
		t.Error("the report names a folder of this machine")
	}
	for _, bad := range []string{"NaN", "Inf", "not measured", "%!"} {
		if strings.Contains(report, bad) {
			t.Errorf("the report says %q", bad)
		}
	}

	graphs := []string{"RMAT 10", "RMAT 12", "Kronecker 12", "openflights"}
	counts := (&bench{cores: runtime.GOMAXPROCS(0)}).threadCounts()
	lines := rows(report)
	for _, graph := range graphs {
		for _, name := range []string{
			vertexOrder, transposedOrder, hilbertOrder, compressedOrder, doublePrecision,
			labelsVertex, labelsHilbert, unionVertex, unionHilbert, afforest,
		} {
			expectRow(t, lines, graph, "", name, "1")
		}
		for _, threads := range counts {
			n := fmt.Sprint(threads)
			for _, name := range []string{vertexOrder, hilbertOrder, unionHilbert, afforest, "BFS", "SSSP", "SCC", "k-core", "triangles"} {
				expectRow(t, lines, graph, "", name, n)
			}
			if strings.HasPrefix(graph, "RMAT") {
				for _, name := range []string{textToVertex, vertexToHilbert, hilbertToCompressed} {
					expectRow(t, lines, graph, "", name, n)
				}
			}
			expectRow(t, lines, graph, n) // how far from the limit
		}
	}
	for _, p := range slices.Concat(publishedPageRank, publishedConnectivity) {
		for i, g := range ladder.PublishedGraphs {
			if p.Seconds[i] > 0 {
				expectRow(t, lines, p.System, g.Name, fmt.Sprint(p.Cores))
			}
		}
	}
	expectRow(t, lines, "weir, "+hilbertOrder, "RMAT 12", "1")
	for _, s := range []string{"Twenty PageRank iterations", "Graph connectivity", "Conversion", "Sizes", "Other algorithms", "The machine's limits"} {
		if !strings.Contains(report, "\n## "+s+"\n") || !strings.Contains(stdout.String(), "\n"+s+"\n===") {
			t.Errorf("no section %q in the report or on the terminal", s)
		}
	}
	for _, name := range []string{"pagerank.svg", "connectivity.svg", "sizes.svg"} {
		checkSVG(t, filepath.Join(dir, name))
		if !strings.Contains(report, "]("+name+")") {
			t.Errorf("the report does not show %s", name)
		}
	}
}

// rows are the cells of the report's tables.
func rows(report string) [][]string {
	var all [][]string
	for line := range strings.Lines(report) {
		if !strings.HasPrefix(line, "| ") {
			continue
		}
		var cells []string
		for _, cell := range strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|") {
			cells = append(cells, strings.TrimSpace(cell))
		}
		all = append(all, cells)
	}
	return all
}

// expectRow looks for a row that begins with cells, of which "" is any.
func expectRow(t *testing.T, lines [][]string, cells ...string) {
	t.Helper()
	for _, line := range lines {
		match := len(line) >= len(cells)
		for i, cell := range cells {
			match = match && (cell == "" || line[i] == cell)
		}
		if match {
			return
		}
	}
	t.Errorf("no row %q in the report", cells)
}

func checkSVG(t *testing.T, path string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Error(err)
		return
	}
	defer f.Close()
	elements := 0
	for d := xml.NewDecoder(f); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Errorf("%s: %v", filepath.Base(path), err)
			return
		}
		if _, ok := token.(xml.StartElement); ok {
			elements++
		}
	}
	if elements < 20 {
		t.Errorf("%s has only %d elements", filepath.Base(path), elements)
	}
}

func TestBadArguments(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--repetitions", "0"}, program.Usage, "--repetitions is 0, expected 1 or more"},
		{[]string{"--no-such-flag"}, program.Usage, "no-such-flag"},
		{[]string{"extra"}, program.Usage, "extra"},
		{[]string{"--graph", "no-such-file.el"}, program.Failed, "--graph no-such-file.el: "},
		{[]string{"--graph", "main.go:0,2"}, program.Failed, "column 0, expected 1 or more"},
		{[]string{"--scale", "40"}, program.Failed, "scale 40"},
		{[]string{"--scale", "0", "--kronecker", "0"}, program.Failed, "there is no graph to measure"},
	} {
		t.Setenv(dataVariable, t.TempDir())
		var stdout, stderr bytes.Buffer
		code := execute(t.Context(), append(c.args, "--out", t.TempDir()), &stdout, &stderr)
		if code != c.code || !strings.Contains(stderr.String(), c.want) {
			t.Errorf("%q: exit code %d and %q, want %d and %q", c.args, code, stderr.String(), c.code, c.want)
		}
	}
}

func TestStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := t.TempDir()
	var stdout, stderr bytes.Buffer
	if code := execute(ctx, []string{"--quick", "--out", dir, "--cache", dir}, &stdout, &stderr); code != program.Failed {
		t.Errorf("exit code %d, want %d", code, program.Failed)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left %v (%v), want nothing", left, err)
	}
}

func TestAnswersMustAgree(t *testing.T) {
	say := func(x float64) func(context.Context) (answer, error) {
		return func(context.Context) (answer, error) { return func() float64 { return x }, nil }
	}
	b := &bench{opt: options{repetitions: 3}}
	j := &job{name: "work", variants: []variant{{name: "one way", cores: 1, run: say(5)}, {name: "another", cores: 2, run: say(6)}}}
	err := b.measure(t.Context(), j)
	if err == nil || !strings.Contains(err.Error(), "one way on 1 core found 5, but another on 2 cores found 6") {
		t.Errorf("error %v", err)
	}
	j.tolerance = 0.2
	if err := b.measure(t.Context(), j); err != nil {
		t.Error(err)
	}
}

func TestPatience(t *testing.T) {
	runs := 0
	count := func(context.Context) (answer, error) {
		runs++
		return func() float64 { return 1 }, nil
	}
	for _, c := range []struct {
		opt  options
		once bool
		want int
	}{
		{options{repetitions: 4, patience: 1e18}, false, 4},
		{options{repetitions: 4, patience: -1}, false, 1},
		{options{repetitions: 4, patience: 1e18}, true, 1},
		{options{repetitions: 4, patience: 1e18, atLeast: 1e18}, false, mostRounds},
		{options{repetitions: 4, patience: 1e18, atLeast: 1e18}, true, 1},
	} {
		runs = 0
		b := &bench{opt: c.opt}
		if err := b.measure(t.Context(), &job{name: "work", once: c.once, variants: []variant{{name: "count", cores: 1, run: count}}}); err != nil {
			t.Fatal(err)
		}
		if runs != c.want {
			t.Errorf("%+v, once %v: %d runs, want %d", c.opt, c.once, runs, c.want)
		}
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		seconds []float64
		want    float64
	}{{[]float64{3}, 3}, {[]float64{4, 1}, 2.5}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 3, 1, 2}, 2.5}} {
		if got := (timing{seconds: c.seconds}).median(); got != c.want {
			t.Errorf("median of %v is %v, want %v", c.seconds, got, c.want)
		}
	}
}

func TestPublishedRates(t *testing.T) {
	best, i := fastest(publishedPageRank)
	if best.System != "GraphX" || ladder.PublishedGraphs[i].Name != "uk-2007-05" {
		t.Errorf("fastest PageRank is %s on %s, want GraphX on uk-2007-05", best.System, ladder.PublishedGraphs[i].Name)
	}
	best, i = fastest(publishedConnectivity)
	if best.System != "Giraph" || ladder.PublishedGraphs[i].Name != "twitter_rv" {
		t.Errorf("fastest connectivity is %s on %s, want Giraph on twitter_rv", best.System, ladder.PublishedGraphs[i].Name)
	}
	if got := publishedPageRank[0].Rate(0) / 1e6; got < 9.29 || got > 9.30 {
		t.Errorf("GraphChi passes over %v M edges/s, want 9.29", got)
	}
	if got := fmt.Sprint(publishedCells(publishedConnectivity[2], 1)); got != "[Spark uk-2007-05 128 ≥ 8,000 ≤ 0.467 ≤ 0.00365]" {
		t.Errorf("Spark's connectivity is %s", got)
	}
}

func TestVerdict(t *testing.T) {
	var v tally
	if got := v.verdict(); got != "not measured here." {
		t.Error(got)
	}
	v.add("a", 2)
	v.add("b", 1.04)
	v.add("c", 0.5)
	v.add("d", 1.5)
	if got, want := v.verdict(), "it holds on a (2.00×) and d (1.50×); it does not hold on c (0.500×); there is no difference on b (1.04×)."; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func TestCommandLineHidesFolders(t *testing.T) {
	t.Setenv(dataVariable, "/some/where")
	got := commandLine([]string{"--quick", "--graph", "/a/b/web.el.gz", "--out=/c/d"})
	if want := dataVariable + "=DATA go run ./bench/graphtables --quick --graph web.el.gz --out=d"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func TestFindGraphs(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"cit-HepTh.el.gz", "openflights-routes.dat", "other.el", "uk-2007-05-100000.el"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv(dataVariable, dir)
	found, err := findGraphs(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, in := range found {
		names = append(names, fmt.Sprint(in.name, in.columns))
	}
	if got := strings.Join(names, " "); got != "uk-2007-05-100000[] cit-HepTh[] openflights[3 5]" {
		t.Errorf("found %s", got)
	}
	t.Setenv(dataVariable, filepath.Join(dir, "absent"))
	if _, err := findGraphs(dir); err == nil {
		t.Error("a folder of data that is absent was no error")
	}
	t.Setenv(dataVariable, "")
	if found, err := findGraphs(dir); err != nil || len(found) > 0 {
		t.Errorf("found %v (%v) where there is no testdata", found, err)
	}
}

// TestCache damages what is kept of a graph, and gets the same graph again.
func TestCache(t *testing.T) {
	b := &bench{opt: options{cache: t.TempDir()}}
	in := generated(generate.RMAT, 8)
	want, err := b.open(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	defer want.graph.Close()
	stored, listed, err := b.generate(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{stored, listed} {
		if err := os.Remove(path); err != nil { // not written over: the graph is mapped
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(stored, []byte("not a graph"), 0o666); err != nil {
		t.Fatal(err)
	}
	got, err := b.open(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	defer got.graph.Close()
	if got.graph.Vertices != 256 || got.graph.Edges != 4096 || got.graph.Edges != want.graph.Edges {
		t.Errorf("%d vertices and %d edges, want 256 and 4096", got.graph.Vertices, got.graph.Edges)
	}
}
