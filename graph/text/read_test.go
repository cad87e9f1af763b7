package text

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"weir/graph/names"
)

func TestReadEdgeLists(t *testing.T) {
	type want struct {
		edges    string
		vertices int
		kind     names.Kind
		sep      byte
		header   string
		weight   int
	}
	long := strings.Repeat("x", 100_000)
	cases := []struct {
		name, text string
		opt        Options
		want       want
	}{
		{"spaces", "0 1\n1 2\n", Options{}, want{edges: "0>1 1>2", vertices: 3, sep: ' '}},
		{"tabs", "0\t1\n1\t2\n", Options{}, want{edges: "0>1 1>2", vertices: 3, sep: ' '}},
		{"runs of blanks", "  0   1  \n1 \t 2\n\t2 0\n", Options{}, want{edges: "0>1 1>2 2>0", vertices: 3, sep: ' '}},
		{"commas", "0,1\n1, 2\n 2 ,0\n", Options{}, want{edges: "0>1 1>2 2>0", vertices: 3, sep: ','}},
		{"semicolons", "0;1\n1;2\n", Options{}, want{edges: "0>1 1>2", vertices: 3, sep: ';'}},
		{"CRLF", "0 1\r\n1 2\r\n", Options{}, want{edges: "0>1 1>2", vertices: 3, sep: ' '}},
		{"byte order mark", "\ufeff0 1\n1 2\n", Options{}, want{edges: "0>1 1>2", vertices: 3, sep: ' '}},
		{"byte order mark and header", "\ufeffsource,target\n5,7\n", Options{}, want{edges: "5>7", vertices: 2, kind: names.Increasing, sep: ',', header: "source,target"}},
		{"no last line end", "0 1\n1 2", Options{}, want{edges: "0>1 1>2", vertices: 3, sep: ' '}},
		{"comments", "# a\n% b\n// c\n0 1\n  # d\n\n1 2 # not a weight\n", Options{}, want{edges: "0>1 1>2", vertices: 3, sep: ' '}},
		{"empty", "", Options{}, want{sep: ' '}},
		{"only comments", "# nothing\n\n% here", Options{}, want{sep: ' '}},
		{"only a mark", "\ufeff", Options{}, want{sep: ' '}},
		{"gaps", "30 1412\n30 3352\n", Options{}, want{edges: "30>1412 30>3352", vertices: 3, kind: names.Increasing, sep: ' '}},
		{"leading zeros", "007 8\n", Options{}, want{edges: "7>8", vertices: 2, kind: names.Increasing, sep: ' '}},
		{"many digits", "12345678 123456789\n0000000000000000000001 2\n", Options{}, want{edges: "12345678>123456789 1>2", vertices: 4, kind: names.Increasing, sep: ' '}},
		{"largest 32-bit id", "0 4294967295\n", Options{}, want{edges: "0>4294967295", vertices: 2, kind: names.Increasing, sep: ' '}},
		{"64-bit ids", "5 3\n18446744073709551615 4294967296\n3 9\n", Options{}, want{edges: "5>3 18446744073709551615>4294967296 3>9", vertices: 5, kind: names.Listed, sep: ' '}},
		{"kept ids", "3 1\n", Options{KeepIDs: true}, want{edges: "3>1", vertices: 4, sep: ' '}},
		{"kept ids, none", "#\n", Options{KeepIDs: true}, want{sep: ' '}},
		{"given vertices", "3 1\n", Options{Vertices: 7}, want{edges: "3>1", vertices: 7, sep: ' '}},
		{"strings", "AMS LHR\nLHR JFK\n", Options{}, want{edges: "AMS>LHR LHR>JFK", vertices: 3, kind: names.Text, sep: ' '}},
		{"almost bzip2", "BZh91 BZh\n", Options{}, want{edges: "BZh91>BZh", vertices: 2, kind: names.Text, sep: ' '}},
		{"mixed are strings", "1 2\n2 x\n", Options{}, want{edges: "1>2 2>x", vertices: 3, kind: names.Text, sep: ' '}},
		{"asked for strings", "01 2\n1 2\n", Options{IDs: StringIDs}, want{edges: "01>2 1>2", vertices: 3, kind: names.Text, sep: ' '}},
		{"blanks in names", "New York\tLos Angeles\nLos Angeles\tSão Paulo\n", Options{}, want{edges: "New York>Los Angeles Los Angeles>São Paulo", vertices: 3, kind: names.Text, sep: '\t'}},
		{"quotes", "\"Doe, John\",\"a \"\"b\"\"\"\nx , \"y\" \n", Options{}, want{edges: `Doe, John>a "b" x>y`, vertices: 4, kind: names.Text, sep: ','}},
		{"escaped quotes", `"a \"b\"",c` + "\n", Options{}, want{edges: `a "b">c`, vertices: 2, kind: names.Text, sep: ','}},
		{"backslash at the end", `"C:\",d` + "\n", Options{}, want{edges: `C:\>d`, vertices: 2, kind: names.Text, sep: ','}},
		{"quoted integers", "\"1\",\"2\"\n\"2\",\"0\"\n", Options{}, want{edges: "1>2 2>0", vertices: 3, sep: ','}},
		{"quoted among blanks", "\"New York\" \"Rome\"\n", Options{}, want{edges: "New York>Rome", vertices: 2, kind: names.Text, sep: ' '}},
		{"a lone quote among blanks", "5\" 7\"\n", Options{}, want{edges: `5">7"`, vertices: 2, kind: names.Text, sep: ' '}},
		{"a quote that begins a name", "\"x y\n", Options{}, want{edges: `"x>y`, vertices: 2, kind: names.Text, sep: ' '}},
		{"header over integers", "FromNodeId\tToNodeId\n3\t4\n", Options{}, want{edges: "3>4", vertices: 2, kind: names.Increasing, sep: ' ', header: "FromNodeId\tToNodeId"}},
		{"header over strings", "source,target\nA,B\n", Options{}, want{edges: "A>B", vertices: 2, kind: names.Text, sep: ',', header: "source,target"}},
		{"header over weights", "airport,other,km\nA,B,1.5\n", Options{}, want{edges: "A>B:1.5", vertices: 2, kind: names.Text, sep: ',', header: "airport,other,km", weight: 3}},
		{"header alone", "source,target\n", Options{}, want{sep: ',', header: "source,target"}},
		{"header after comments", "# c\n\nu v\n1 2\n", Options{}, want{edges: "1>2", vertices: 2, kind: names.Increasing, sep: ' ', header: "u v"}},
		{"asked for a header", "A,B\nC,D\n", Options{Header: Yes}, want{edges: "C>D", vertices: 2, kind: names.Text, sep: ',', header: "A,B"}},
		{"asked for none", "source,target\nA,B\n", Options{Header: No}, want{edges: "source>target A>B", vertices: 4, kind: names.Text, sep: ','}},
		{"weights", "0 1 2\n1 0 0.5\n", Options{}, want{edges: "0>1:2 1>0:0.5", vertices: 2, sep: ' ', weight: 3}},
		{"kinds of weights", "0 1 -2\n1 0 +1e-3\n0 1 .5\n1 1 3.\n0 0 16777216\n1 0 123456789.25\n", Options{}, want{edges: "0>1:-2 1>0:0.001 0>1:0.5 1>1:3 0>0:1.6777216e+07 1>0:1.2345679e+08", vertices: 2, sep: ' ', weight: 3}},
		{"weights not wanted", "0 1 2\n1 0 0.5\n", Options{Weights: No}, want{edges: "0>1 1>0", vertices: 2, sep: ' '}},
		{"a third column of words", "0 1 x\n1 0 2\n", Options{}, want{edges: "0>1 1>0", vertices: 2, sep: ' '}},
		{"a fourth column", "0 1 2 7\n1 0 3 8 9\n", Options{}, want{edges: "0>1:2 1>0:3", vertices: 2, sep: ' ', weight: 3}},
		{"columns", "x,9,A,8,B\ny,9,B,8,A\n", Options{Columns: []int{3, 5}}, want{edges: "A>B B>A", vertices: 2, kind: names.Text, sep: ','}},
		{"columns with weights", "7,1,0\n8,0,1\n", Options{Columns: []int{3, 2, 1}}, want{edges: "0>1:7 1>0:8", vertices: 2, sep: ',', weight: 1}},
		{"empty columns between", "0\t\t1\n1\t\t0\n", Options{Columns: []int{1, 3}}, want{edges: "0>1 1>0", vertices: 2, sep: '\t'}},
		{"missing", "A,B\n\\N,B\nB,\\N\n", Options{}, want{edges: "A>B", vertices: 2, kind: names.Text, sep: ','}},
		{"missing among integers", "0,1\n\\N,1\n", Options{}, want{edges: "0>1", vertices: 2, sep: ','}},
		{"other marks", "A,B\n-,B\nB,\n", Options{Missing: []string{"-", ""}}, want{edges: "A>B", vertices: 2, kind: names.Text, sep: ','}},
		{"bars", "a b|c\nc|d e\nd|d\nd|e\n", Options{}, want{edges: "a b>c c>d e d>d d>e", vertices: 5, kind: names.Text, sep: '|'}},
		{"bars and weights", "0|1|2.5\n1 | 2|3\n", Options{}, want{edges: "0>1:2.5 1>2:3", vertices: 3, sep: '|', weight: 3}},
		{"bars within names", "gi|1 gi|2\ngi|2 gi|3\n", Options{}, want{edges: "gi|1>gi|2 gi|2>gi|3", vertices: 3, kind: names.Text, sep: ' '}},
		{"given separator", "a b,c d\n", Options{Separator: ' '}, want{edges: "a>b,c", vertices: 2, kind: names.Text, sep: ' '}},
		{"repeated edges and loops", "0 1\n0 1\n1 1\n", Options{}, want{edges: "0>1 0>1 1>1", vertices: 2, sep: ' '}},
		{"long lines", "0 1" + strings.Repeat(" ", 100_000) + "\n# " + long + "\n1 0 " + long + "\n", Options{}, want{edges: "0>1 1>0", vertices: 2, sep: ' '}},
		{"long names", long + " y\ny " + long + "\n", Options{}, want{edges: long + ">y y>" + long, vertices: 2, kind: names.Text, sep: ' '}},
	}
	for _, c := range cases {
		for _, way := range ways {
			for _, chunk := range []int{0, 1, 7} {
				opt := c.opt
				if opt.ChunkSize = chunk; chunk > 0 && len(c.text) > 1000 {
					opt.ChunkSize = 5000
				}
				opt.Threads = 2
				in := input(t, "g.el", c.text, way)
				g, err := load(in, opt)
				in.Close()
				if err != nil {
					t.Errorf("%s (%s, chunks of %d): %v", c.name, way, chunk, err)
					continue
				}
				got := want{g.String(), g.Vertices, g.Names.Kind(), g.Report.Separator, g.Report.Header, g.Report.WeightColumn}
				if got != c.want {
					t.Errorf("%s (%s, chunks of %d):\n got %.300v\nwant %.300v", c.name, way, chunk, got, c.want)
				}
			}
		}
	}
}

func TestReadCountsLines(t *testing.T) {
	text := "# c\nfrom,to,w\n0,1,16777217\n\n1,1,2\n\\N,1,3\n// d\nbad\n0,1\n-1,0,1\n"
	for _, chunk := range []int{1, 13, 1 << 20} {
		g, err := loadText(t, "g.csv", text, Options{ChunkSize: chunk, SkipBad: -1})
		if err != nil {
			t.Fatal(err)
		}
		r := g.Report
		if r.Lines != 10 || r.Comments != 2 || r.Blank != 1 || r.Missing != 1 || r.SelfLoops != 1 || r.Rounded != 1 || r.Bad != 3 || r.Edges != 2 {
			t.Errorf("chunks of %d: %+v", chunk, r)
		}
		var at []int64
		for _, b := range r.BadLines {
			at = append(at, b.Line)
		}
		if len(at) != 3 || at[0] != 8 || at[1] != 9 || at[2] != 10 {
			t.Errorf("chunks of %d: bad lines at %v", chunk, at)
		}
		human := r.String()
		for _, part := range []string{"g.csv: edge list separated by commas", "10 lines, 2 edges", "weights: column 3", "timestamps", "1 self-loops", "3 bad lines skipped", `line 8: 1 field, an edge needs 2 separated by commas: "bad"`} {
			if !strings.Contains(human, part) {
				t.Errorf("the report does not say %q:\n%s", part, human)
			}
		}
	}
}

func TestReadDeclaredFormats(t *testing.T) {
	cases := []struct {
		name, file, text string
		opt              Options
		want             string
		vertices         int
		undirected       bool
		format           Format
	}{
		{"general", "a.mtx", "%%MatrixMarket matrix coordinate real general\n% c\n3 3 2\n1 2 1.5\n3 3 -2\n", Options{}, "1>2:1.5 3>3:-2", 3, false, MatrixMarket},
		{"pattern", "a", "%%matrixmarket MATRIX coordinate pattern general\n\n2 2 1\n2 1\n", Options{}, "2>1", 2, false, MatrixMarket},
		{"symmetric", "a", "%%MatrixMarket matrix coordinate integer symmetric\n3 3 2\n2 1 7\n3 3 1\n", Options{}, "2>1:7 1>2:7 3>3:1", 3, true, MatrixMarket},
		{"skew", "a", "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 7\n", Options{}, "2>1:7 1>2:-7", 2, true, MatrixMarket},
		{"values dropped", "a", "%%MatrixMarket matrix coordinate real hermitian\n2 2 1\n2 1 7\n", Options{Weights: No}, "2>1 1>2", 2, true, MatrixMarket},
		{"no vertices", "a", "%%MatrixMarket matrix coordinate real general\n0 0 0\n", Options{}, "", 0, false, MatrixMarket},
		{"METIS", "a.graph", "% c\n4 2\n2\n1 4\n\n2\n", Options{}, "1>2 2>1 2>4 4>2", 4, true, METIS},
		{"METIS by content", "a.txt", "4 3\n2 3 4\n1\n1\n1\n", Options{}, "1>2 1>3 1>4 2>1 3>1 4>1", 4, true, METIS},
		{"METIS by request", "a.txt", "2 1\n2\n1\n", Options{Format: METIS}, "1>2 2>1", 2, true, METIS},
		{"METIS with edge weights", "a.graph", "2 1 1\n2 5\n1 5\n", Options{}, "1>2:5 2>1:5", 2, true, METIS},
		{"METIS with all weights", "a.metis", "2 1 111 2\n9 8 7 2 5\n9 8 7 1 5\n", Options{}, "1>2:5 2>1:5", 2, true, METIS},
		{"METIS without the weights it has", "a.graph", "2 1 011 1\n9 2 5\n9 1 5\n", Options{Weights: No}, "1>2 2>1", 2, true, METIS},
		{"METIS, last rows empty", "a.graph", "3 0\n\n\n\n\n\n", Options{}, "", 3, true, METIS},
		{"METIS, last rows left out", "a.graph", "5 1\r\n2\r\n1\r\n% end", Options{}, "1>2 2>1", 5, true, METIS},
		{"METIS with a loop", "a.graph", "2 2 0\n1 2\n1\n", Options{}, "1>1 1>2 2>1", 2, true, METIS},
		{"DIMACS", "a.gr", "c hello\np sp 3 2\nc x\na 1 2 7\na 3 1 2\n", Options{}, "1>2:7 3>1:2", 3, false, DIMACS},
		{"DIMACS unweighted", "a.gr", "p sp 3 1\na  1\t2 7\n", Options{Weights: No}, "1>2", 3, false, DIMACS},
		{"not METIS", "a.graph", "0 1\n1 2\n2 0\n5 1\n", Options{}, "0>1 1>2 2>0 5>1", 4, false, EdgeList},
	}
	for _, c := range cases {
		for _, way := range ways {
			for _, chunk := range []int{0, 1, 9} {
				opt := c.opt
				opt.ChunkSize, opt.Threads = chunk, 2
				in := input(t, c.file, c.text, way)
				g, err := load(in, opt)
				in.Close()
				if err != nil {
					t.Errorf("%s (%s, chunks of %d): %v", c.name, way, chunk, err)
					continue
				}
				if got := g.String(); got != c.want || g.Vertices != c.vertices || g.Undirected != c.undirected || g.Report.Format != c.format {
					t.Errorf("%s (%s, chunks of %d): %d vertices, undirected %v, %v, %s\nwant %d, %v, %v, %s", c.name, way, chunk,
						g.Vertices, g.Undirected, g.Report.Format, got, c.vertices, c.undirected, c.format, c.want)
				}
			}
		}
	}
}

func TestIntegersTakeADictionaryOver(t *testing.T) {
	var text strings.Builder
	for range 1000 {
		text.WriteString("7 3\n")
	}
	text.WriteString("7 9999999999\n5 3\n")
	for _, threads := range []int{1, 2, 5} {
		var got []uint64
		raw := 0
		res, err := Read(context.Background(), input(t, "g", text.String(), "stream"), Options{ChunkSize: 100, Threads: threads}, func(c Chunk) error {
			if c.Raw {
				raw += len(c.Edges)
			}
			got = append(got, c.Edges...)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if raw < 900 || raw > 1000 || res.Rank == nil {
			t.Errorf("%d raw edges, rank %v", raw, res.Rank)
		}
		res.Rank.Apply(got[:raw])
		// 3 and 7 got their ranks, 9999999999 and 5 came after them.
		n := len(got)
		if got[0] != 1<<32 || got[n-3] != 1<<32 || got[n-2] != 1<<32|2 || got[n-1] != 3<<32 || res.Names.Name(3) != "5" {
			t.Errorf("edges %x … %x", got[:1], got[n-3:])
		}
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "g.el")
	for _, way := range []string{"", "gzip", "zstd"} {
		data := []byte("0 1\n1 2\n")
		if way != "" {
			data = compressed(t, string(data), way)
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		in, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if string(in.Peek()) != "0 1\n1 2\n" || in.Compression() != way || in.Size() != int64(len(data)) || in.Name() != path {
			t.Errorf("%q: peek %q, compression %q, size %d", way, in.Peek(), in.Compression(), in.Size())
		}
		g, err := load(in, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if g.String() != "0>1 1>2" {
			t.Errorf("%q: %v", way, g)
		}
		if _, err := load(in, Options{}); err == nil || !strings.Contains(err.Error(), "read already") {
			t.Errorf("%q: a second reading: %v", way, err)
		}
		if err := in.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := Open(filepath.Join(dir, "absent")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("absent file: %v", err)
	}
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "directory") {
		t.Errorf("directory: %v", err)
	}
}

func TestReadStops(t *testing.T) {
	text := strings.Repeat("0 1\n1 2\n", 10_000)
	mine := errors.New("mine")
	for _, way := range ways {
		for _, threads := range []int{1, 3} {
			opt := Options{ChunkSize: 1000, Threads: threads}
			calls := 0
			_, err := Read(context.Background(), input(t, "g", text, way), opt, func(c Chunk) error {
				if calls++; calls == 3 {
					return mine
				}
				return nil
			})
			if err != mine || calls != 3 {
				t.Errorf("%s: the sink's error came back as %v after %d calls", way, err, calls)
			}
			ctx, cancel := context.WithCancel(context.Background())
			_, err = Read(ctx, input(t, "g", text, way), opt, func(c Chunk) error {
				cancel()
				return nil
			})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s: cancelled: %v", way, err)
			}
		}
	}
}

func TestReadDoesNotWaitForASilentPipe(t *testing.T) {
	r, w := io.Pipe()
	go func() { w.Write(bytes.Repeat([]byte("0 1\n"), sampleSize)) }()
	in, err := NewInput("pipe", r)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	_, err = Read(ctx, in, Options{}, func(c Chunk) error { return nil })
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	w.Close()
}
