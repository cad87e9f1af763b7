package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"sort"
	"strconv"
	"strings"

	"weir/differential"
	"weir/graph/names"
	"weir/graph/order"
)

// liveTransaction is changes that are made together, or what is wrong with them.
type liveTransaction struct {
	changes        []liveChange
	added, removed int      // edges, as their file counts them
	vertices       []uint32 // those that now are, the first time
	names          []string // of vertices that the graph does not have, in order of their numbers
	problem        error    // then there are no changes
}

// liveChange is one to an edge.
type liveChange struct {
	edge   differential.Pair[uint32, uint32]
	weight int64
}

// liveNames numbers the vertices that the graph has, and others from there on.
type liveNames struct {
	table    *names.Table
	vertices int
	extra    map[string]uint32
	fresh    []string // those that nobody was told of yet
}

// find returns the vertex of a name, which it makes where add is set.
func (n *liveNames) find(name string, add bool) (v uint32, ok bool, err error) {
	if n.table.Kind() != names.Text {
		id, err := strconv.ParseUint(name, 10, 64)
		if err != nil {
			return 0, false, fmt.Errorf("vertex %q, expected a whole number below 2⁶⁴", shortened(name))
		}
		name = strconv.FormatUint(id, 10)
	}
	if v, ok = n.table.Find(name); ok && int64(v) < int64(n.vertices) {
		return v, true, nil
	}
	if v, ok = n.extra[name]; ok || !add {
		return v, ok, nil
	}
	if int64(n.vertices)+int64(len(n.extra)) > math.MaxUint32 {
		return 0, false, fmt.Errorf("vertex %q is one more than the 2³² that there may be", shortened(name))
	}
	v = uint32(n.vertices + len(n.extra))
	if n.extra == nil {
		n.extra = map[string]uint32{}
	}
	n.extra[name] = v
	n.fresh = append(n.fresh, name)
	return v, true, nil
}

// liveGraph knows which edges are there: those of the file, and what has changed.
type liveGraph struct {
	rows       *order.CSR
	undirected bool
	names      liveNames
	delta      map[uint64]int64 // how many more there are of an edge than in the file
	known      map[uint32]bool  // the vertices that the file does not have, and that are there
	staged     []uint64         // edges of the transaction, to undo it
	signs      []int64
	t          liveTransaction
}

// change makes a change part of the transaction.
func (g *liveGraph) change(from, to string, sign int64) error {
	a, ok, err := g.names.find(from, sign > 0)
	var b uint32
	if err == nil && ok {
		b, ok, err = g.names.find(to, sign > 0)
	}
	if err != nil {
		return err
	}
	if g.undirected && a > b {
		a, b = b, a
	}
	edge := order.Pack(a, b)
	if sign < 0 && (!ok || g.count(a, b)+g.delta[edge] <= 0) {
		return fmt.Errorf("edge %s %s is not there", shortened(from), shortened(to))
	}
	g.apply(edge, sign)
	g.staged, g.signs = append(g.staged, edge), append(g.signs, sign)
	g.t.add(a, b, sign, g.undirected)
	return nil
}

// add makes a change to an edge part of the transaction, in both directions where there is none.
func (t *liveTransaction) add(a, b uint32, weight int64, undirected bool) {
	if weight > 0 {
		t.added++
	} else {
		t.removed++
	}
	t.changes = append(t.changes, liveChange{differential.Pair[uint32, uint32]{Key: a, Value: b}, weight})
	if undirected && a != b {
		t.changes = append(t.changes, liveChange{differential.Pair[uint32, uint32]{Key: b, Value: a}, weight})
	}
}

// count is how many edges from a to b the file has.
func (g *liveGraph) count(a, b uint32) int64 {
	if int64(a) >= int64(g.rows.Vertices()) {
		return 0
	}
	row := g.rows.Neighbours(a)
	first := sort.Search(len(row), func(i int) bool { return row[i] >= b })
	return int64(sort.Search(len(row)-first, func(i int) bool { return row[first+i] > b }))
}

func (g *liveGraph) apply(edge uint64, sign int64) {
	if g.delta == nil {
		g.delta = map[uint64]int64{}
	}
	if g.delta[edge] += sign; g.delta[edge] == 0 {
		delete(g.delta, edge)
	}
}

// rollback undoes the transaction.
func (g *liveGraph) rollback() {
	for i, edge := range g.staged {
		g.apply(edge, -g.signs[i])
	}
	g.staged, g.signs, g.t = g.staged[:0], g.signs[:0], liveTransaction{}
}

// commit ends the transaction and returns it.
func (g *liveGraph) commit() liveTransaction {
	t := g.t
	for _, c := range t.changes {
		for _, v := range [...]uint32{c.edge.Key, c.edge.Value} {
			if int64(v) < int64(g.names.vertices) || g.known[v] {
				continue
			}
			if g.known == nil {
				g.known = map[uint32]bool{}
			}
			g.known[v] = true
			t.vertices = append(t.vertices, v)
		}
	}
	g.staged, g.signs, g.t = g.staged[:0], g.signs[:0], liveTransaction{}
	return t
}

// source makes the transactions of the run, on a goroutine of its own, a few ahead.
func (l *liveRun) source(ctx context.Context) <-chan liveTransaction {
	to := make(chan liveTransaction, 4)
	emit := func(t liveTransaction) bool {
		t.names, l.graph.names.fresh = l.graph.names.fresh, nil
		select {
		case to <- t:
			return true
		case <-ctx.Done():
			return false
		}
	}
	go func() {
		defer close(to)
		if l.flags.rewire > 0 {
			l.graph.rewire(l.flags, emit)
			return
		}
		name := "standard input"
		if l.flags.changes != "-" {
			name = l.flags.changes
		}
		l.graph.read(name, l.changes, l.flags.keepGoing, emit)
	}()
	return to
}

// read makes transactions of lines, up to the first that is wrong, or all that are not.
func (g *liveGraph) read(name string, in io.Reader, keepGoing bool, emit func(liveTransaction) bool) {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	number, wrong := 0, false
	for lines.Scan() {
		number++
		line := strings.TrimSpace(lines.Text())
		switch {
		case line == "" || line[0] == '#':
		case line == "commit" && wrong:
			wrong = false
		case line == "commit":
			if !emit(g.commit()) {
				return
			}
		case wrong:
		default:
			err := g.line(line)
			if err == nil {
				continue
			}
			wrong = true
			g.rollback()
			if !emit(liveTransaction{problem: fmt.Errorf("%s:%d: %w", name, number, err)}) || !keepGoing {
				return
			}
		}
	}
	err := lines.Err()
	switch {
	case errors.Is(err, bufio.ErrTooLong):
		err = fmt.Errorf("%s:%d: the line is longer than a megabyte", name, number+1)
	case err != nil:
		err = fmt.Errorf("%s:%d: %w", name, number+1, err)
	case len(g.t.changes) > 0:
		err = fmt.Errorf("%s:%d: the last %s not committed: expected a line that says commit", name, number, areNot(g.t.added+g.t.removed))
	}
	if g.rollback(); err != nil {
		emit(liveTransaction{problem: err})
	}
}

// shortened is the first of what may be anything, for an error.
func shortened(text string) string {
	const most = 60
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "�") + "…"
	}
	return text
}

func areNot(changes int) string {
	if changes == 1 {
		return "change is"
	}
	return plural(changes, "change") + " are"
}

// line makes the change that a line says.
func (g *liveGraph) line(line string) error {
	fields, ok := liveFields(line)
	if !ok || len(fields) != 3 || fields[0] != "+" && fields[0] != "-" {
		return fmt.Errorf("%q, expected + A B, - A B or commit", shortened(line))
	}
	sign := int64(1)
	if fields[0] == "-" {
		sign = -1
	}
	return g.change(fields[1], fields[2], sign)
}

// liveFields splits a line at blanks, but not within quotes.
func liveFields(line string) (fields []string, ok bool) {
	for line = strings.TrimLeft(line, " \t"); line != ""; line = strings.TrimLeft(line, " \t") {
		if line[0] != '"' {
			end := strings.IndexAny(line, " \t")
			if end < 0 {
				end = len(line)
			}
			fields, line = append(fields, line[:end]), line[end:]
			continue
		}
		var field strings.Builder
		for line = line[1:]; ; {
			end := strings.IndexByte(line, '"')
			if end < 0 {
				return nil, false
			}
			field.WriteString(line[:end])
			if line = line[end+1:]; !strings.HasPrefix(line, `"`) {
				break
			}
			field.WriteByte('"')
			line = line[1:]
		}
		if line != "" && line[0] != ' ' && line[0] != '\t' {
			return nil, false
		}
		fields = append(fields, field.String())
	}
	return fields, true
}

// rewire moves random edges to random places.
func (g *liveGraph) rewire(f *liveFlags, emit func(liveTransaction) bool) {
	random := rand.New(rand.NewPCG(f.seed, 0))
	moved := map[uint64]uint64{} // by the place of the edge in the rows
	edges, vertices := uint64(g.rows.Edges()), uint32(g.rows.Vertices())
	for left := f.rewire; left > 0; {
		var t liveTransaction
		for range min(f.batch, left) {
			place := random.Uint64N(edges)
			a, b := g.at(place, moved)
			for g.undirected && a > b { // the reverse of another
				place = random.Uint64N(edges)
				a, b = g.at(place, moved)
			}
			t.add(a, b, -1, g.undirected)
			a, b = random.Uint32N(vertices), random.Uint32N(vertices)
			if g.undirected && a > b {
				a, b = b, a
			}
			t.add(a, b, 1, g.undirected)
			moved[place] = order.Pack(a, b)
		}
		left -= min(f.batch, left)
		if !emit(t) {
			return
		}
	}
}

// at is the edge at a place of the rows, or where it was moved.
func (g *liveGraph) at(place uint64, moved map[uint64]uint64) (a, b uint32) {
	if edge, ok := moved[place]; ok {
		return uint32(edge >> 32), uint32(edge)
	}
	offsets := g.rows.Offsets
	place += offsets[0]
	v := sort.Search(len(offsets)-1, func(v int) bool { return offsets[v+1] > place })
	return uint32(v), g.rows.Targets[place]
}
