package text

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// graph is what Read found, with all edges final.
type graph struct {
	*Result
	edges   []uint64
	weights []float32
}

// load reads all of in.
func load(in *Input, opt Options) (*graph, error) {
	g := &graph{}
	raw := 0
	var err error
	g.Result, err = Read(context.Background(), in, opt, func(c Chunk) error {
		if c.Raw {
			if raw < len(g.edges) {
				return fmt.Errorf("a raw chunk after final ones")
			}
			raw += len(c.Edges)
		}
		g.edges = append(g.edges, c.Edges...)
		g.weights = append(g.weights, c.Weights...)
		c.Release()
		return nil
	})
	if err != nil {
		return nil, err
	}
	g.Rank.Apply(g.edges[:raw])
	if int64(len(g.edges)) != g.Edges || g.Edges != g.Report.Edges {
		return nil, fmt.Errorf("%d edges came, the result says %d, the report %d", len(g.edges), g.Edges, g.Report.Edges)
	}
	if g.Weighted && len(g.weights) != len(g.edges) || !g.Weighted && len(g.weights) > 0 {
		return nil, fmt.Errorf("%d weights for %d edges", len(g.weights), len(g.edges))
	}
	for _, e := range g.edges {
		if max(e>>32, e&0xffffffff) >= uint64(g.Vertices) {
			return nil, fmt.Errorf("edge %d %d among %d vertices", e>>32, uint32(e), g.Vertices)
		}
	}
	if g.Names != nil && g.Names.Len() != g.Vertices {
		return nil, fmt.Errorf("%d names for %d vertices", g.Names.Len(), g.Vertices)
	}
	return g, nil
}

// ways are the ways in which a text may come.
var ways = []string{"file", "stream", "gzip", "zstd"}

// input makes a text come in one of the ways.
func input(t testing.TB, name, text, way string) *Input {
	t.Helper()
	var in *Input
	var err error
	switch way {
	case "file":
		in, err = NewInputAt(name, strings.NewReader(text), int64(len(text)))
	case "stream":
		in, err = NewInput(name, io.MultiReader(strings.NewReader(text)))
	default:
		in, err = NewInput(name, bytes.NewReader(compressed(t, text, way)))
	}
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// compressed is text as a file of gzip or zstd, in two members.
func compressed(t testing.TB, text, way string) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, part := range []string{text[:len(text)/2], text[len(text)/2:]} {
		var w io.WriteCloser = gzip.NewWriter(&b)
		if way == "zstd" {
			var err error
			if w, err = zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := io.WriteString(w, part); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

// loadText reads a text as a file and closes it.
func loadText(t testing.TB, name, text string, opt Options) (*graph, error) {
	t.Helper()
	in := input(t, name, text, "file")
	defer in.Close()
	return load(in, opt)
}

// String is the edges with their names: "a>b a>c:2.5".
func (g *graph) String() string {
	var b strings.Builder
	for i, e := range g.edges {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(g.Names.Name(uint32(e >> 32)))
		b.WriteByte('>')
		b.WriteString(g.Names.Name(uint32(e)))
		if g.Weighted {
			fmt.Fprintf(&b, ":%v", g.weights[i])
		}
	}
	return b.String()
}
