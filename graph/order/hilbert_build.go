package order

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sort"
	"unsafe"

	"weir/internal/huge"
	"weir/internal/par"
	"weir/internal/progress"
	"weir/internal/radix"
)

// unitEdges is about how many edges are counted and moved as one piece of work.
var unitEdges = 1 << 21 // a variable for tests

// BuildHilbert brings edges into Hilbert order. Besides e it needs the result (4
// bytes an edge), and scratch for the largest squares. Weights are not kept: an
// algorithm that needs them reads rows.
//
// It is a counting sort by square, straight into the result, and then a radix
// sort within each square. It is made for vertex order, whose consecutive rows
// touch few squares; other orders are brought into vertex order first.
func BuildHilbert(ctx context.Context, e EdgeMap, threads int) (*Hilbert, error) {
	switch e := e.(type) {
	case *Hilbert:
		return e, nil
	case *CSR:
		return hilbertFromRows(ctx, e, par.Threads(threads))
	}
	c, _, err := ToCSR(ctx, e, BuildOptions{Threads: threads})
	if err != nil {
		return nil, err
	}
	return hilbertFromRows(ctx, c, par.Threads(threads))
}

// A unit is a run of rows within one stripe of 65536 of them, which go to the
// squares of one row (or, if reversed, column) of squares.
type unit struct {
	lo, hi  int // rows
	touched []touched
}

// touched is a square and what a unit has there.
type touched struct {
	position uint32 // of the square along the curve
	across   uint16 // the square's coordinate that the stripe does not fix
	state    uint16 // of the curve inside
	count    uint64
	start    uint64 // place of the unit's first edge there
}

// squareCursor is where the next edge of a square goes, while a unit is moved.
type squareCursor struct {
	at    uint64
	first *[1 << 12]uint16 // of the tables for the square's state
}

// rowsToHilbert is one call of hilbertFromRows.
type rowsToHilbert struct {
	c       *CSR
	threads int
	units   []unit
	keys    []uint32 // the result's pairs: first as positions within the square
	out     *Hilbert
}

func hilbertFromRows(ctx context.Context, c *CSR, threads int) (*Hilbert, error) {
	stage := progress.Start(ctx, "sort along the curve", 3*c.Edges(), progress.Edges)
	defer stage.Done()
	b := &rowsToHilbert{c: c, threads: threads, units: rowUnits(c)}
	if err := b.count(ctx, stage); err != nil {
		return nil, err
	}
	if err := b.layOut(); err != nil {
		return nil, err
	}
	if err := b.move(ctx, stage); err != nil {
		return nil, err
	}
	if err := b.sortSquares(ctx, stage); err != nil {
		return nil, err
	}
	return b.out, nil
}

// rowUnits cuts the rows at stripes, and long stripes in several.
func rowUnits(c *CSR) []unit {
	var units []unit
	rows := len(c.Offsets) - 1
	for lo := 0; lo < rows; {
		stripe := (int(c.first)+lo)>>16 + 1
		end := min(stripe<<16-int(c.first), rows)
		limit := c.Offsets[lo] + uint64(unitEdges)
		hi := lo + max(1, sort.Search(end-lo, func(i int) bool { return c.Offsets[lo+i+1] > limit }))
		if c.Offsets[lo] < c.Offsets[hi] {
			units = append(units, unit{lo: lo, hi: hi})
		}
		lo = hi
	}
	return units
}

// count finds the squares of each unit.
func (b *rowsToHilbert) count(ctx context.Context, stage *progress.Stage) error {
	c := b.c
	side := (c.Vertices() + SquareSide - 1) / SquareSide
	errs := make([]error, len(b.units))
	counts := make([][]uint64, b.threads)
	err := par.Range(ctx, b.threads, len(b.units), 1, func(worker, i, _ int) {
		u := &b.units[i]
		lo, hi := c.Offsets[u.lo], c.Offsets[u.hi]
		if errs[i] = check(c.Guard, lo, hi); errs[i] != nil {
			return
		}
		if counts[worker] == nil {
			counts[worker] = make([]uint64, SquareSide)
		}
		count := (*[SquareSide]uint64)(counts[worker])
		for _, t := range c.Targets[lo:hi] {
			count[t>>16]++
		}
		for across, n := range count {
			if n == 0 {
				continue
			}
			if across >= side {
				errs[i] = fmt.Errorf("rows of vertices %d to %d: neighbour %d or above, expected below %d",
					int(c.first)+u.lo, int(c.first)+u.hi-1, across<<16, c.Vertices())
			}
			x, y := uint32(int(c.first)+u.lo)>>16, uint32(across)
			if c.Reversed {
				x, y = y, x
			}
			position, state := squarePosition(x, y)
			u.touched = append(u.touched, touched{position: position, across: uint16(across), state: uint16(state), count: n})
		}
		clear(count[:side])
		stage.Add(int64(hi - lo))
	})
	return cmp.Or(err, firstError(errs))
}

func firstError(errs []error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// layOut gives each unit its place in each square, and makes the result.
func (b *rowsToHilbert) layOut() error {
	var all []*touched
	for i := range b.units {
		for j := range b.units[i].touched {
			all = append(all, &b.units[i].touched[j])
		}
	}
	// Units of the same square stay in the order of their rows.
	slices.SortStableFunc(all, func(a, b *touched) int { return cmp.Compare(a.position, b.position) })
	h := &Hilbert{N: b.c.Vertices()}
	at := uint64(0)
	for i, t := range all {
		t.start = at
		at += t.count
		if i == 0 || all[i-1].position != t.position {
			x, y, _ := squareAt(t.position)
			h.Squares = append(h.Squares, Extent{X: uint16(x), Y: uint16(y)})
			h.Starts = append(h.Starts, t.start)
		}
		if at-h.Starts[len(h.Starts)-1] > math.MaxUint32 {
			return fmt.Errorf("build Hilbert order: more than %d edges between vertices from %d and from %d",
				uint32(math.MaxUint32), int(h.Squares[len(h.Squares)-1].X)<<16, int(h.Squares[len(h.Squares)-1].Y)<<16)
		}
		h.Squares[len(h.Squares)-1].Count += uint32(t.count)
	}
	h.Starts = append(h.Starts, at)
	b.keys = huge.Make[uint32](int(at))
	h.Pairs = unsafe.Slice((*Pair)(unsafe.Pointer(unsafe.SliceData(b.keys))), len(b.keys))
	b.out = h
	return nil
}

// move puts the position of each edge within its square in the square's place.
func (b *rowsToHilbert) move(ctx context.Context, stage *progress.Stage) error {
	c := b.c
	cursors := make([][]squareCursor, b.threads)
	return par.Range(ctx, b.threads, len(b.units), 1, func(worker, i, _ int) {
		u := &b.units[i]
		if cursors[worker] == nil {
			cursors[worker] = make([]squareCursor, SquareSide)
		}
		cursor := (*[SquareSide]squareCursor)(cursors[worker])
		for _, t := range u.touched {
			cursor[t.across] = squareCursor{at: t.start, first: enterTables(uint32(t.state)).first}
		}
		if c.Reversed {
			moveColumns(c, u, cursor, b.keys)
		} else {
			moveRows(c, u, cursor, b.keys)
		}
		stage.Add(int64(c.Offsets[u.hi] - c.Offsets[u.lo]))
	})
}

// moveRows is move for the rows of one unit.
func moveRows(c *CSR, u *unit, cursor *[SquareSide]squareCursor, keys []uint32) {
	others := (*[1 << 12]uint16)(enter5)
	for v := u.lo; v < u.hi; v++ {
		x := uint32(int(c.first) + v)
		x0, x1, x2 := x>>4&(63<<6), x&(31<<5), x&31<<5
		for _, y := range c.Targets[c.Offsets[v]:c.Offsets[v+1]] {
			to := &cursor[y>>16]
			e := uint32(to.first[x0|y>>10&63])
			position := e & (1<<enterState - 1)
			e = uint32(others[e>>enterState<<10&(3<<10)|x1|y>>5&31])
			position = position<<10 | e&(1<<10-1)
			e = uint32(others[e>>enterState<<10&(3<<10)|x2|y&31])
			keys[to.at] = position<<10 | e&(1<<10-1)
			to.at++
		}
	}
}

// moveColumns is moveRows where rows are those of targets.
func moveColumns(c *CSR, u *unit, cursor *[SquareSide]squareCursor, keys []uint32) {
	for v := u.lo; v < u.hi; v++ {
		y := uint32(int(c.first) + v)
		for _, x := range c.Targets[c.Offsets[v]:c.Offsets[v+1]] {
			to := &cursor[x>>16]
			keys[to.at], _ = enterSquare(tables[uint16]{to.first, (*[1 << 12]uint16)(enter5)}, x, y)
			to.at++
		}
	}
}

// sortSquares sorts the positions of each square, and turns them into pairs.
func (b *rowsToHilbert) sortSquares(ctx context.Context, stage *progress.Stage) error {
	h := b.out
	// Squares this large are shared by all goroutines, one after the other.
	const large = 1 << 22
	scratch := make([][]uint32, b.threads)
	err := par.Range(ctx, b.threads, len(h.Squares), 1, func(worker, i, _ int) {
		keys := b.keys[h.Starts[i]:h.Starts[i+1]]
		if len(keys) >= large {
			return
		}
		if len(scratch[worker]) < len(keys) {
			scratch[worker] = huge.Make[uint32](len(keys) + len(keys)/4)
		}
		radix.Sort(keys, scratch[worker])
		leavePairs(h.state(i), keys, h.Pairs[h.Starts[i]:h.Starts[i+1]])
		stage.Add(int64(len(keys)))
	})
	clear(scratch)
	for i := range h.Squares {
		keys := b.keys[h.Starts[i]:h.Starts[i+1]]
		if len(keys) < large || err != nil {
			continue
		}
		err = radix.Parallel(ctx, b.threads, keys, nil)
		if err == nil {
			pairs := h.Pairs[h.Starts[i]:h.Starts[i+1]]
			err = par.Range(ctx, b.threads, len(keys), unitEdges, func(_, lo, hi int) {
				leavePairs(h.state(i), keys[lo:hi], pairs[lo:hi])
				stage.Add(int64(hi - lo))
			})
		}
	}
	return err
}

// state is the state of the curve within square i.
func (h *Hilbert) state(i int) uint32 {
	_, state := squarePosition(uint32(h.Squares[i].X), uint32(h.Squares[i].Y))
	return state
}
