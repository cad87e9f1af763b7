package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"weir/graph/order"
	"weir/internal/par"
	"weir/internal/progress"
)

// Damage is one part of a file that is not as it was written.
type Damage struct {
	Section        Kind   // 0 for the header and for padding
	Block          int    // number of the block in its section; -1 for what has no blocks, or for all of them
	Offset, Length int64  // where in the file
	Holds          string // what it holds, such as "targets of edges 262144 to 524287"
	Problem        string // what is wrong
}

func (d Damage) String() string {
	where := fmt.Sprintf("bytes %d to %d", d.Offset, d.Offset+d.Length-1)
	switch {
	case d.Section != 0 && d.Block >= 0:
		return fmt.Sprintf("section %s, block %d, %s (%s): %s", d.Section, d.Block, where, d.Holds, d.Problem)
	case d.Section != 0:
		return fmt.Sprintf("section %s, %s (%s): %s", d.Section, where, d.Holds, d.Problem)
	}
	return fmt.Sprintf("%s (%s): %s", where, d.Holds, d.Problem)
}

// DamageError says which parts of a file are damaged.
type DamageError struct {
	Path   string
	Damage []Damage // by offset
}

// Error names the first few damaged parts; the field Damage has all.
func (e *DamageError) Error() string {
	const shown = 4
	var b strings.Builder
	fmt.Fprintf(&b, "%s is damaged: ", e.Path)
	for i, d := range e.Damage[:min(shown, len(e.Damage))] {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(d.String())
	}
	if more := len(e.Damage) - shown; more > 0 {
		fmt.Fprintf(&b, "; and %d more damaged parts", more)
	}
	return b.String()
}

// verification gathers what Verify finds.
type verification struct {
	file  *File
	mu    sync.Mutex
	found []Damage
}

// add takes the damage out of err, and returns other errors.
func (v *verification) add(err error) error {
	damaged, ok := errors.AsType[*DamageError](err)
	if !ok {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.found = append(v.found, damaged.Damage...)
	return nil
}

// has says whether damage in a section is known already.
func (v *verification) has(kind Kind) bool {
	return slices.ContainsFunc(v.found, func(d Damage) bool { return d.Section == kind })
}

// Verify checks every byte of the file on the given number of goroutines (all
// processors if it is not positive) and shows its progress. It goes on behind
// damage; the error is then a *[DamageError] that names all of it. What was
// checked is not checked again when it is read later.
func (f *File) Verify(ctx context.Context, threads int) error {
	v := &verification{file: f}
	tasks, err := v.prepare()
	if err != nil {
		return err
	}
	stage := progress.Start(ctx, "verify", f.Size(), progress.Bytes)
	defer stage.Done()
	var failed error
	err = par.Range(ctx, par.Threads(threads), len(tasks), 1, func(_, i, _ int) {
		t := tasks[i]
		err := v.add(f.m.Protect(func() error { return t.blocks.verify(t.block) }))
		if err != nil {
			v.mu.Lock()
			failed = cmp.Or(failed, err)
			v.mu.Unlock()
		}
		stage.Add(min(t.blocks.sec.block, t.blocks.sec.length-int64(t.block)*t.blocks.sec.block))
	})
	if err = cmp.Or(err, failed, v.relations(ctx, threads), v.frame()); err != nil {
		return err
	}
	if len(v.found) == 0 {
		return nil
	}
	slices.SortFunc(v.found, func(a, b Damage) int { return cmp.Compare(a.Offset, b.Offset) })
	return &DamageError{Path: f.Path(), Damage: slices.Compact(v.found)}
}

// task is a block to be checked.
type task struct {
	blocks *blocks
	block  int
}

// prepare lists the blocks of all sections. The squares are checked already here,
// because without them nothing can be said of the pairs.
func (v *verification) prepare() ([]task, error) {
	f := v.file
	squaresSound := true
	if f.Has(HilbertSquares) {
		if _, err := f.Hilbert(); err != nil {
			squaresSound = false
			if err := v.add(err); err != nil {
				return nil, err
			}
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var tasks []task
	for _, s := range f.sections {
		var check func(uint64, []byte) error
		switch s.kind {
		case OutTargets, InSources:
			check = idsBelow(f.Meta.Vertices)
		case OutWeights, InWeights:
			check = weightsSound
		}
		b, err := f.checked[s.kind], error(nil)
		switch {
		case b != nil:
		case s.kind == HilbertPairs && !squaresSound:
			err = f.m.Protect(func() (err error) { b, err = f.newBlocks(s, nil); return err })
		default:
			b, err = f.open(s.kind, check)
		}
		if err != nil {
			if err := v.add(err); err != nil {
				return nil, err
			}
			continue
		}
		for i := range s.blocks() {
			tasks = append(tasks, task{b, i})
		}
	}
	return tasks, nil
}

// relations checks what single blocks cannot show, for sections whose blocks are
// sound.
func (v *verification) relations(ctx context.Context, threads int) error {
	f := v.file
	for _, c := range []struct {
		kind Kind
		open func() error
	}{
		{OutOffsets, func() error { _, err := f.Out(); return err }},
		{InOffsets, func() error { _, err := f.In(); return err }},
		{OutDegrees, func() error { _, err := f.Degrees(); return err }},
		{OutTargets, func() error { return v.ascend(ctx, threads, OutOffsets, OutTargets, f.Out) }},
		{InSources, func() error { return v.ascend(ctx, threads, InOffsets, InSources, f.In) }},
		{CompressedBlocks, func() error { _, err := f.Compressed(); return err }},
		{CompressedData, func() error { return v.decode(ctx, threads) }},
	} {
		if f.Has(c.kind) && !v.has(c.kind) {
			if err := v.add(c.open()); err != nil {
				return err
			}
		}
	}
	return nil
}

// ascend checks that neighbours ascend within each row, if the offsets of the rows
// are sound: algorithms rely on it.
func (v *verification) ascend(ctx context.Context, threads int, offsets, ids Kind, open func() (*order.CSR, error)) error {
	if v.has(offsets) {
		return nil
	}
	c, err := open()
	if err != nil {
		return err
	}
	const grain = 1 << 12 // rows
	var first atomic.Int64
	first.Store(math.MaxInt64)
	var failed atomic.Pointer[error]
	err = par.Range(ctx, par.Threads(threads), c.Vertices(), grain, func(_, lo, hi int) {
		err := v.file.m.Protect(func() error {
			for u := lo; u < hi; u++ {
				if slices.IsSorted(c.Neighbours(uint32(u))) {
					continue
				}
				for old := first.Load(); int64(u) < old && !first.CompareAndSwap(old, int64(u)); old = first.Load() {
				}
				break
			}
			return nil
		})
		if err != nil {
			failed.CompareAndSwap(nil, &err)
		}
	})
	if failed := failed.Load(); failed != nil {
		return *failed
	}
	if err != nil || first.Load() == math.MaxInt64 {
		return err
	}
	return v.file.unsound(ids, fmt.Sprintf("the row of vertex %d does not ascend; the header says that all do", first.Load()))
}

// decode walks the compressed edges if their index is sound: only that shows
// whether each is inside the graph.
func (v *verification) decode(ctx context.Context, threads int) error {
	if v.has(CompressedBlocks) {
		return nil
	}
	f := v.file
	c, err := f.Compressed()
	if err != nil {
		return err
	}
	stage := progress.Start(ctx, "decode", c.Edges(), progress.Edges)
	defer stage.Done()
	parts := c.Split(64)
	return cmp.Or(par.Range(ctx, par.Threads(threads), len(parts), 1, func(_, i, _ int) {
		err := f.m.Protect(func() error { return parts[i].Run(ctx, nothing{}) })
		if err != nil && ctx.Err() == nil {
			s := f.find(CompressedData)
			v.mu.Lock()
			defer v.mu.Unlock()
			v.found = append(v.found, Damage{Section: s.kind, Block: -1, Offset: s.offset, Length: s.length,
				Holds: kinds[s.kind].holds, Problem: err.Error()})
		}
		stage.Add(parts[i].Edges())
	}), ctx.Err())
}

// nothing is the kernel that does nothing.
type nothing struct{}

func (nothing) Rows(order.Rows)     {}
func (nothing) Square(order.Square) {}

// frame checks the header again, which may have changed since Open, and that
// padding is zero.
func (v *verification) frame() error {
	f := v.file
	return f.m.Protect(func() error {
		if _, _, err := decodeHeader(f.data); err != nil {
			v.found = append(v.found, Damage{Block: -1, Length: pageSize, Holds: "header", Problem: err.Error()})
		}
		for _, r := range f.Layout() {
			if r.What != "padding" {
				continue
			}
			padding := f.data[r.Offset : r.Offset+r.Length]
			if i := slices.IndexFunc(padding, func(b byte) bool { return b != 0 }); i >= 0 {
				v.found = append(v.found, Damage{Block: -1, Offset: r.Offset, Length: r.Length, Holds: "padding",
					Problem: fmt.Sprintf("byte %d is %#x; expected zero", r.Offset+int64(i), padding[i])})
			}
		}
		return nil
	})
}
