package main

import (
	"context"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"weir/graph/order"
	"weir/internal/mapfile"
	"weir/internal/plot"
	"weir/internal/report"
	"weir/internal/table"
)

// Names of the forms of a graph.
const (
	csrForm        = "CSR"
	hilbertForm    = "Hilbert"
	compressedForm = "compressed Hilbert"
	gzipForm       = "CSR, gzip"
	zstdForm       = "CSR, zstd"
)

var forms = []string{csrForm, hilbertForm, compressedForm, gzipForm, zstdForm}

// counter counts what is written to it.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// squeezed is the size of the rows, compressed by what open makes.
func squeezed(ctx context.Context, c *order.CSR, open func(w io.Writer) (io.WriteCloser, error)) (int64, error) {
	var size counter
	w, err := open(&size)
	if err != nil {
		return 0, err
	}
	for _, part := range [][]byte{mapfile.Bytes(c.Offsets), mapfile.Bytes(c.Targets)} {
		for len(part) > 0 {
			if err := ctx.Err(); err != nil {
				return 0, err
			}
			n := min(len(part), 1<<20)
			if _, err := w.Write(part[:n]); err != nil {
				return 0, err
			}
			part = part[n:]
		}
	}
	if err := w.Close(); err != nil {
		return 0, err
	}
	return int64(size), nil
}

// size is a variant whose answer is a number of bits an edge.
func size(name string, g *subject, bytes func(ctx context.Context) (int64, error)) variant {
	return variant{name: name, cores: 1, run: func(ctx context.Context) (answer, error) {
		n, err := bytes(ctx)
		return func() float64 { return 8 * float64(n) / float64(g.graph.Edges) }, err
	}}
}

func (b *bench) sizes() *section {
	s := &section{Section: report.Section{
		Title: "Sizes",
		Text: "Bits an edge. CSR is an offset of 64 bits a vertex and a target of 32 bits an edge; Hilbert order has 32 bits an edge and 64 a square of 65,536 × 65,536; " +
			"gzip and zstd compress the CSR at their default levels.",
	}}
	fixed := func(n int) func(context.Context) (int64, error) {
		return func(context.Context) (int64, error) { return int64(n), nil }
	}
	for _, g := range b.subjects {
		s.jobs = append(s.jobs, &job{name: "sizes", subject: g, once: true, tolerance: -1, variants: []variant{
			size(csrForm, g, fixed(8*len(g.out.Offsets)+4*len(g.out.Targets))),
			size(hilbertForm, g, fixed(8*len(g.hilbert.Squares)+4*len(g.hilbert.Pairs))),
			size(compressedForm, g, fixed(int(g.compressed.BitsPerEdge()*float64(g.graph.Edges)/8))),
			size(gzipForm, g, func(ctx context.Context) (int64, error) {
				return squeezed(ctx, g.out, func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil })
			}),
			size(zstdForm, g, func(ctx context.Context) (int64, error) {
				return squeezed(ctx, g.out, func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) })
			}),
		}})
	}
	s.finish = b.finishSizes
	return s
}

func (b *bench) finishSizes(s *section) error {
	columns := []table.Column{table.Left("graph"), table.Right("vertices"), table.Right("edges")}
	for _, form := range forms {
		columns = append(columns, table.Right(form).Decimals(1))
	}
	t := table.New(columns...)
	var bars []plot.Bar
	for n, j := range s.jobs {
		if n > 0 {
			bars = append(bars, plot.Bar{Group: csrForm, Text: " "}) // a gap between graphs
		}
		cells := []any{j.subject.name, j.subject.graph.Vertices, j.subject.graph.Edges}
		for _, x := range j.timings {
			cells = append(cells, x.answer)
		}
		t.Row(cells...)
		for i, form := range forms {
			label := ""
			if i == len(forms)/2 {
				label = j.subject.name
			}
			bars = append(bars, plot.Bar{Label: label, Value: j.timings[i].answer, Group: form, Text: fmt.Sprintf("%.1f", j.timings[i].answer)})
		}
	}
	s.Tables = []report.Table{{Title: "Bits an edge", Rows: t, Notes: []string{smallest(s.jobs)}}}
	chart, err := plot.Bars(plot.Figure{
		Title: "Size of a graph", Source: b.machine.Foot(), Width: 720, Height: 120 + 15*float64(len(bars)),
	}, plot.Axis{Title: "bits an edge"}, bars)
	s.Plots = []report.Plot{{File: "sizes.svg", Alt: "Bits an edge of graphs in several forms", Chart: chart}}
	return err
}

// smallest says how compressed Hilbert order compares.
func smallest(jobs []*job) string {
	ratio := func(form string) tally {
		var found tally
		for _, j := range jobs {
			a, ok1 := j.find(form, 1)
			b, ok2 := j.find(compressedForm, 1)
			if ok1 && ok2 {
				found.add(j.subject.name, a.answer/b.answer)
			}
		}
		return found
	}
	return "That compressed Hilbert order is smaller than CSR: " + ratio(csrForm).verdict() +
		" Than CSR compressed with gzip: " + ratio(gzipForm).verdict() + " With zstd: " + ratio(zstdForm).verdict()
}
