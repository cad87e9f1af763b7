package text

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"weir/graph/names"
	"weir/internal/progress"
)

// writer collects lines and writes them in large pieces.
type writer struct {
	ctx     context.Context
	w       io.Writer
	g       Source
	stage   *progress.Stage
	weights bool
	buf     []byte
}

// flushSize is how much is collected.
const flushSize = 256 << 10

func (w *writer) flush() error {
	_, err := w.w.Write(w.buf)
	w.buf = w.buf[:0]
	return err
}

// each calls line for every edge of every row, in the direction of the edge,
// and writes out what it appends.
func (w *writer) each(line func(b []byte, s, t uint32, weight float32) []byte) error {
	return w.g.Each(w.ctx, func(v uint32, targets []uint32, weights []float32) error {
		b := w.buf
		for i, t := range targets {
			weight := float32(1)
			if weights != nil {
				weight = weights[i]
			}
			if w.g.Reversed {
				b = line(b, t, v, weight)
			} else {
				b = line(b, v, t, weight)
			}
			if len(b) >= flushSize {
				w.buf = b
				if err := w.flush(); err != nil {
					return err
				}
				b = w.buf
			}
		}
		w.buf = b
		w.stage.Add(int64(len(targets)))
		return nil
	})
}

// edgeList writes a line an edge.
func (w *writer) edgeList(sep byte) error {
	switch sep {
	case 0:
		sep = ' '
	case '\t', ',', ';', ' ':
	default:
		return fmt.Errorf("separator %q, want a tab, comma, semicolon or blank", sep)
	}
	name := func(b []byte, v uint32) []byte { return w.g.Names.Append(b, v) }
	if w.g.Names.Kind() == names.Text {
		if err := checkNames(w.g.Names); err != nil {
			return err
		}
		name = func(b []byte, v uint32) []byte {
			from := len(b)
			b = w.g.Names.Append(b, v)
			return quote(b, from, sep)
		}
	}
	// The end that stays the same within a row is written once.
	var kept []byte
	last := int64(-1)
	return w.each(func(b []byte, s, t uint32, weight float32) []byte {
		row := s
		if w.g.Reversed {
			row = t
		}
		if int64(row) != last {
			kept, last = name(kept[:0], row), int64(row)
		}
		if w.g.Reversed {
			b = append(name(b, s), sep)
			b = append(b, kept...)
		} else {
			b = append(append(b, kept...), sep)
			b = name(b, t)
		}
		if w.weights {
			b = appendWeight(append(b, sep), weight)
		}
		return append(b, '\n')
	})
}

// checkNames refuses names that no edge list can hold.
func checkNames(t *names.Table) error {
	var b []byte
	for v := range uint32(t.Len()) {
		b = t.Append(b[:0], v)
		// A backslash may be that of a quote, and then means nothing.
		if len(b) == 0 || bytes.ContainsAny(b, "\n\x00") || bytes.Contains(b, []byte(`\"`)) || string(b) == `\N` {
			return fmt.Errorf("vertex %d is called %s, which an edge list cannot hold", v, shown(b))
		}
	}
	return nil
}

// quote puts b[from:] in quotes if it would not be read as one field else, or as
// a comment, as a mark of the encoding or without its blanks.
func quote(b []byte, from int, sep byte) []byte {
	field := b[from:]
	// Bytes of a byte order mark could stand at the start of the file.
	plain := field[0] != 0xef && field[0] < 0xfe && field[0] > ' ' && !blank(field[len(field)-1]) && field[0] != '#' && field[0] != '%' && field[0] != '/' && field[len(field)-1] != '\r'
	for _, c := range field {
		if c == sep || c == '"' || sep == ' ' && c == '\t' {
			plain = false
			break
		}
	}
	if plain {
		return b
	}
	name := slices.Clone(field)
	b = append(b[:from], '"')
	for _, c := range name {
		if c == '"' {
			b = append(b, '"')
		}
		b = append(b, c)
	}
	return append(b, '"')
}

// appendWeight writes the shortest decimal that is read back as f.
func appendWeight(b []byte, f float32) []byte {
	if i := int32(f); f > -1<<24 && f < 1<<24 && float32(i) == f {
		return strconv.AppendInt(b, int64(i), 10)
	}
	return strconv.AppendFloat(b, float64(f), 'g', -1, 32)
}

// loops counts self-loops.
func (w *writer) loops() (n int64, err error) {
	err = w.g.Each(w.ctx, func(v uint32, targets []uint32, _ []float32) error {
		for _, t := range targets {
			if t == v {
				n++
			}
		}
		return nil
	})
	return n, err
}

// halves is the number of undirected edges.
func (w *writer) halves() (int64, error) {
	loops, err := w.loops()
	if err == nil && (w.g.Edges+loops)%2 != 0 {
		err = fmt.Errorf("%d edges with %d self-loops cannot be undirected", w.g.Edges, loops)
	}
	return (w.g.Edges + loops) / 2, err
}

func (w *writer) matrixMarket() error {
	values, symmetry, entries := "pattern", "general", w.g.Edges
	if w.weights {
		values = "real"
	}
	if w.g.Undirected {
		symmetry = "symmetric"
		var err error
		if entries, err = w.halves(); err != nil {
			return err
		}
	}
	w.buf = fmt.Appendf(w.buf, "%%%%MatrixMarket matrix coordinate %s %s\n%d %d %d\n", values, symmetry, w.g.Vertices, w.g.Vertices, entries)
	return w.each(func(b []byte, s, t uint32, weight float32) []byte {
		if w.g.Undirected && s < t {
			return b // the lower triangle says it
		}
		b = strconv.AppendUint(b, uint64(s)+1, 10)
		b = strconv.AppendUint(append(b, ' '), uint64(t)+1, 10)
		if w.weights {
			b = appendWeight(append(b, ' '), weight)
		}
		return append(b, '\n')
	})
}

func (w *writer) metis() error {
	if !w.g.Undirected {
		return errors.New("a METIS file holds an undirected graph, and this one is directed")
	}
	edges, err := w.halves()
	if err != nil {
		return err
	}
	w.buf = fmt.Appendf(w.buf, "%d %d", w.g.Vertices, edges)
	if w.weights {
		w.buf = append(w.buf, " 001"...)
	}
	row := uint32(0) // that the next byte belongs to
	w.buf = append(w.buf, '\n')
	fill := func(to uint32) error {
		for ; row < to; row++ {
			if w.buf = append(w.buf, '\n'); len(w.buf) >= flushSize {
				if err := w.flush(); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if err := w.g.Each(w.ctx, func(v uint32, targets []uint32, weights []float32) error {
		if err := fill(v); err != nil {
			return err
		}
		for i, t := range targets {
			if i > 0 {
				w.buf = append(w.buf, ' ')
			}
			w.buf = strconv.AppendUint(w.buf, uint64(t)+1, 10)
			if w.weights && weights != nil {
				w.buf = appendWeight(append(w.buf, ' '), weights[i])
			} else if w.weights {
				w.buf = append(w.buf, " 1"...)
			}
			if len(w.buf) >= flushSize {
				if err := w.flush(); err != nil {
					return err
				}
			}
		}
		w.stage.Add(int64(len(targets)))
		return nil
	}); err != nil {
		return err
	}
	return fill(uint32(w.g.Vertices))
}

func (w *writer) dimacs() error {
	w.buf = fmt.Appendf(w.buf, "p sp %d %d\n", w.g.Vertices, w.g.Edges)
	return w.each(func(b []byte, s, t uint32, weight float32) []byte {
		b = strconv.AppendUint(append(b, "a "...), uint64(s)+1, 10)
		b = strconv.AppendUint(append(b, ' '), uint64(t)+1, 10)
		return append(appendWeight(append(b, ' '), weight), '\n')
	})
}
