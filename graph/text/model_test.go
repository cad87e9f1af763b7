package text

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The model reads an edge list without quotes in the dumbest way. It takes the
// options as they are and decides nothing by content.
type model struct {
	edges    []string // "source>target" or "source>target:weight"
	names    []string // in order of first appearance
	bad      []int64  // lines
	comments int64
	blank    int64
	missing  int64
	loops    int64
	lines    int64
}

func (m *model) read(text string, opt Options) {
	seen := map[string]bool{}
	if text == "" {
		return
	}
	for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		m.lines++
		line = strings.TrimSuffix(line, "\r")
		if strings.Trim(line, " \t\r\v\f") == "" {
			m.blank++
			continue
		}
		lead := strings.TrimLeft(line, " \t")
		if opt.Separator == '\t' {
			lead = strings.TrimLeft(line, " ")
		}
		if lead[0] == '#' || lead[0] == '%' || strings.HasPrefix(lead, "//") {
			m.comments++
			continue
		}
		var fields []string
		if opt.Separator == ' ' {
			fields = strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\t' })
		} else {
			for _, f := range strings.Split(line, string(opt.Separator)) {
				fields = append(fields, strings.Trim(f, " \t"))
			}
		}
		if len(fields) < 2 {
			m.bad = append(m.bad, m.lines)
			continue
		}
		if fields[0] == `\N` || fields[1] == `\N` {
			m.missing++
			continue
		}
		edge, ok := m.edge(fields, opt)
		if !ok {
			m.bad = append(m.bad, m.lines)
			continue
		}
		m.edges = append(m.edges, edge)
		ends := strings.SplitN(edge, ">", 2)
		to, _, _ := strings.Cut(ends[1], ":")
		if ends[0] == to {
			m.loops++
		}
		for _, end := range []string{ends[0], to} {
			if !seen[end] {
				seen[end] = true
				m.names = append(m.names, end)
			}
		}
	}
}

func (m *model) edge(fields []string, opt Options) (string, bool) {
	for i, f := range fields[:2] {
		if opt.IDs == StringIDs {
			// '>' and ':' would confuse the notation of the model only.
			if f == "" || strings.Contains(f, "\x00") {
				return "", false
			}
			fields[i] = fmt.Sprintf("%x", f)
			continue
		}
		for _, c := range []byte(f) {
			if c < '0' || c > '9' {
				return "", false
			}
		}
		v, ok := new(big.Int).SetString(f, 10)
		if !ok || !v.IsUint64() {
			return "", false
		}
		if opt.Vertices > 0 && v.Uint64() >= uint64(opt.Vertices) || opt.KeepIDs && v.Uint64() >= 1<<32-1 {
			return "", false
		}
		fields[i] = v.String()
	}
	edge := fields[0] + ">" + fields[1]
	if opt.Weights != Yes {
		return edge, true
	}
	if len(fields) < 3 || strings.Trim(fields[2], "0123456789+-.eE") != "" {
		return "", false
	}
	w, err := strconv.ParseFloat(fields[2], 64)
	if err != nil && !math.IsInf(w, 0) || math.IsInf(float64(float32(w)), 0) {
		return "", false
	}
	return fmt.Sprintf("%s:%v", edge, float32(w)), true
}

// compare fails the test where Read and the model differ.
func compare(t rapid.TB, text string, opt Options, way string) {
	m := &model{}
	m.read(text, opt)
	var in *Input
	var err error
	switch way {
	case "file":
		in, err = NewInputAt("g", strings.NewReader(text), int64(len(text)))
	default:
		in, err = NewInput("g", bytes.NewReader([]byte(text)))
	}
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	g, err := load(in, opt)
	if opt.SkipBad == 0 && len(m.bad) > 0 {
		if want := fmt.Sprintf("g:%d: ", m.bad[0]); err == nil || !strings.Contains(err.Error(), want) {
			t.Fatalf("got error %v, want one at %s", err, want)
		}
		return
	}
	if err != nil {
		t.Fatalf("read: %v", err)
	}
	if opt.IDs == StringIDs {
		// Names of the model are hexadecimal.
		for i, e := range g.edges {
			edge := fmt.Sprintf("%x>%x", g.Names.Name(uint32(e>>32)), g.Names.Name(uint32(e)))
			if g.Weighted {
				edge += fmt.Sprintf(":%v", g.weights[i])
			}
			if i >= len(m.edges) || edge != m.edges[i] {
				t.Fatalf("edge %d is %s, the model has %d edges: %.200q", i, edge, len(m.edges), m.edges)
			}
		}
	} else if got, want := g.String(), strings.Join(m.edges, " "); got != want {
		t.Fatalf("edges differ:\n got %s\nwant %s", got, want)
	}
	if len(g.edges) != len(m.edges) {
		t.Fatalf("%d edges, want %d", len(g.edges), len(m.edges))
	}
	r := g.Report
	if r.Lines != m.lines || r.Comments != m.comments || r.Blank != m.blank || r.Missing != m.missing || r.SelfLoops != m.loops || r.Bad != int64(len(m.bad)) {
		t.Fatalf("report %+v, model %+v", r, m)
	}
	for i, b := range r.BadLines {
		if b.Line != m.bad[i] {
			t.Fatalf("bad line %d is %d, want %d", i, b.Line, m.bad[i])
		}
	}
	if !opt.KeepIDs && opt.Vertices == 0 {
		if g.Vertices != len(m.names) {
			t.Fatalf("%d vertices, want %d", g.Vertices, len(m.names))
		}
		checkNumbers(t, g, m, opt)
	}
}

// checkNumbers checks the order of the numbers of vertices.
func checkNumbers(t rapid.TB, g *graph, m *model, opt Options) {
	name := func(v int) string {
		if opt.IDs == StringIDs {
			return fmt.Sprintf("%x", g.Names.Name(uint32(v)))
		}
		return g.Names.Name(uint32(v))
	}
	wide := slices.ContainsFunc(m.names, func(s string) bool { return len(s) > 9 })
	for v := range g.Vertices {
		switch {
		case opt.IDs == StringIDs:
			if name(v) != m.names[v] {
				t.Fatalf("vertex %d is called %s, want %s", v, name(v), m.names[v])
			}
		case !wide && v > 0:
			a, _ := strconv.Atoi(name(v - 1))
			if b, _ := strconv.Atoi(name(v)); a >= b {
				t.Fatalf("vertex %d is called %d after %d", v, b, a)
			}
		}
	}
}

func TestReadAgreesWithTheModel(t *testing.T) {
	id := rapid.OneOf(
		rapid.Map(rapid.IntRange(0, 30), strconv.Itoa),
		rapid.Map(rapid.Uint32(), func(v uint32) string { return strconv.FormatUint(uint64(v), 10) }),
		rapid.Map(rapid.Uint64(), func(v uint64) string { return strconv.FormatUint(v, 10) }),
		rapid.StringMatching(`0{0,12}[0-9]{1,21}`),
		rapid.SampledFrom([]string{"a", "New York", `\N`, "", "-1", "1.5", "é", "18446744073709551616", "4294967295", "4294967296"}),
	)
	narrowID := rapid.Map(rapid.IntRange(0, 5000), strconv.Itoa)
	weight := rapid.OneOf(
		rapid.Map(rapid.Float32(), func(f float32) string { return fmt.Sprint(f) }),
		rapid.Map(rapid.Uint32(), func(v uint32) string { return fmt.Sprint(v) }),
		rapid.StringMatching(`-?[0-9]{1,9}\.[0-9]{0,9}(e-?[0-9])?`),
		rapid.SampledFrom([]string{"NaN", "x", "1e39", "+3", "16777217"}),
	)
	rapid.Check(t, func(t *rapid.T) {
		opt := Options{
			IDs:       rapid.SampledFrom([]IDs{IntegerIDs, IntegerIDs, StringIDs}).Draw(t, "ids"),
			Weights:   rapid.SampledFrom([]Choice{Yes, No}).Draw(t, "weights"),
			Separator: rapid.SampledFrom([]byte(" \t,;|")).Draw(t, "separator"),
			SkipBad:   rapid.SampledFrom([]int{0, -1}).Draw(t, "skip"),
			ChunkSize: rapid.IntRange(1, 64).Draw(t, "chunk"),
			Threads:   rapid.IntRange(1, 4).Draw(t, "threads"),
			Header:    No,
			Format:    EdgeList,
		}
		if opt.IDs == IntegerIDs {
			opt.KeepIDs = rapid.IntRange(0, 5).Draw(t, "keep") == 0
			if !opt.KeepIDs {
				opt.Vertices = rapid.SampledFrom([]int{0, 0, 0, 3000}).Draw(t, "vertices")
			}
		}
		ids := rapid.SampledFrom([]*rapid.Generator[string]{id, narrowID, narrowID}).Draw(t, "kind of ids")
		var b strings.Builder
		for range rapid.IntRange(0, 60).Draw(t, "lines") {
			end := rapid.SampledFrom([]string{"\n", "\n", "\n", "\r\n", " \n"}).Draw(t, "end")
			if rapid.IntRange(0, 9).Draw(t, "odd") == 0 {
				b.WriteString(rapid.SampledFrom([]string{"# c", "", "  % d", "//", "lonely", " ", "/ x", "#"}).Draw(t, "other"))
			} else {
				b.WriteString(ids.Draw(t, "source"))
				b.WriteByte(opt.Separator)
				b.WriteString(ids.Draw(t, "target"))
				for range rapid.IntRange(0, 2).Draw(t, "more") {
					b.WriteByte(opt.Separator)
					b.WriteString(weight.Draw(t, "weight"))
				}
			}
			b.WriteString(end)
		}
		text := b.String()
		if rapid.Bool().Draw(t, "cut the last line end") {
			text = strings.TrimSuffix(text, "\n")
		}
		if notText([]byte(text)) != "" {
			return // one line that ends in a carriage return
		}
		compare(t, text, opt, rapid.SampledFrom([]string{"file", "stream"}).Draw(t, "way"))
	})
}

// The numbering must not depend on the number of threads, and where no integer
// is wide not on the chunks.
func TestReadIsDeterministic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOfN(rapid.OneOf(rapid.Uint64Range(0, 300), rapid.Uint64Range(1<<32-3, 1<<32+3)), 2, 200).Draw(t, "ids")
		var b strings.Builder
		for i := 1; i < len(ids); i += 2 {
			fmt.Fprintf(&b, "%d %d\n", ids[i-1], ids[i])
		}
		chunk := rapid.IntRange(10, 100).Draw(t, "chunk")
		var first *graph
		for _, threads := range []int{1, 2, 4} {
			in, err := NewInputAt("g", strings.NewReader(b.String()), int64(b.Len()))
			if err != nil {
				t.Fatal(err)
			}
			g, err := load(in, Options{ChunkSize: chunk, Threads: threads, Weights: No, IDs: IntegerIDs})
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = g
			}
			if !slices.Equal(g.edges, first.edges) {
				t.Fatalf("%d threads number differently than one", threads)
			}
		}
	})
}

func FuzzReadEdges(f *testing.F) {
	for _, seed := range []string{"0 1\n1 2\n", "a,b,1\nb,c,2.5\n", "# c\n\n12345678 123456789\r\n4294967296 7", "1\t\\N\n\t2\n", "1;2;-3e4\n;\n"} {
		f.Add([]byte(seed), uint16(7), byte(0))
		f.Add([]byte(seed), uint16(3), byte(0xff))
		f.Add([]byte(seed), uint16(1), byte(0x55))
	}
	f.Fuzz(func(t *testing.T, text []byte, chunk uint16, bits byte) {
		opt := Options{
			Separator: " \t,;"[bits&3], ChunkSize: int(chunk%500) + 1, Threads: 1 + int(bits>>2&1),
			Header: No, Format: EdgeList, IDs: IntegerIDs, Weights: No, MaxLine: 1000,
		}
		if bits&8 != 0 {
			opt.IDs = StringIDs
		}
		if bits&16 != 0 {
			opt.Weights = Yes
		}
		if bits&32 != 0 {
			opt.SkipBad = -1
		}
		if bits&64 != 0 && opt.IDs == IntegerIDs {
			opt.KeepIDs = true
		}
		if notText(text) != "" || compression(text) != "" || bytes.HasPrefix(text, bom) || bytes.IndexByte(text, '"') >= 0 || len(text) > opt.MaxLine {
			// What the model does not know must not panic.
			if in, err := NewInput("g", bytes.NewReader(text)); err == nil {
				load(in, opt)
				in.Close()
			}
			return
		}
		compare(t, string(text), opt, []string{"file", "stream"}[bits>>7])
	})
}

func FuzzReadAnything(f *testing.F) {
	for _, seed := range []string{
		"0 1\n1 2\n", "a,b,1\nb,c,2.5\n", "source,target\n\"x \"\"y\",z\n",
		"%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n2 1 0.5\n",
		"3 2 11 1\n1 2 5 3 5\n1 1 5\n1 1 5\n", "4 3\n2 3 4\n1\n1\n1\n", "c\np sp 2 1\na 1 2 3\n", "\xef\xbb\xbf1 2\r3", "\x1f\x8b\x08", "\x28\xb5\x2f\xfd",
	} {
		f.Add([]byte(seed), uint16(7), byte(0), byte(0))
		f.Add([]byte(seed), uint16(3), byte(2), byte(0xff))
	}
	f.Fuzz(func(t *testing.T, text []byte, chunk uint16, format, bits byte) {
		opt := Options{
			Format: Format(format % 6), ChunkSize: int(chunk) + 1, Threads: 1 + int(bits&1),
			SkipBad: int(bits >> 1 & 1 * 5), IDs: IDs(bits >> 2 & 3 % 3), Weights: Choice(bits >> 4 & 3 % 3), Header: Choice(bits >> 6 % 3), MaxLine: 500,
		}
		in, err := NewInput("g.graph", bytes.NewReader(text))
		if err != nil {
			return
		}
		defer in.Close()
		g, err := load(in, opt)
		if err != nil {
			return
		}
		if _ = g.Report.String(); g.Undirected {
			if g.Report.Format == EdgeList {
				t.Fatal("an edge list is undirected")
			}
		}
		for v := range uint32(min(g.Vertices, 100)) {
			if got, ok := g.Names.Find(g.Names.Name(v)); !ok || got != v {
				t.Fatalf("vertex %d is called %q, which is %d", v, g.Names.Name(v), got)
			}
		}
	})
}
