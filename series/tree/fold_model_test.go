package tree_test

import (
	"context"
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"weir/series/names"
	"weir/series/tree"
	"weir/series/volume"
)

// dropping is volumes of which all nodes below an address were dropped, be it in the middle of a file.
type dropping struct {
	*volume.Volumes
	oldest uint64
}

func (d *dropping) Oldest() uint64 { return max(d.oldest, d.Volumes.Oldest()) }

func (d *dropping) Read(dst []byte, at uint64, length int) ([]byte, error) {
	if at < d.oldest {
		return nil, fmt.Errorf("a node at %#x, and those below %#x were dropped: %w", at, d.oldest, volume.ErrGone)
	}
	return d.Volumes.Read(dst, at, length)
}

// fold is one under way.
type fold struct {
	*tree.Fold
	options   tree.FoldOptions
	points    int // that the series had
	ran       bool
	disturbed bool
}

func (m *machine) BeginFold(t *rapid.T) {
	id := m.id()
	x := &fold{points: len(m.points[id])}
	if rapid.IntRange(0, 3).Draw(t, "retention") == 0 {
		x.options.Before = m.now[id] - rapid.Int64Range(0, 100).Draw(t, "age")
	}
	if rapid.Bool().Draw(t, "keep") {
		x.options.Keep = true
		x.options.From = rapid.Uint64Range(m.volumes.Oldest(), m.volumes.End()).Draw(t, "from")
	}
	f, err := m.forest.BeginFold(id, x.options)
	if m.folds[id] != nil {
		if err == nil && len(m.points[id]) > 0 {
			m.t.Fatalf("series %d is folded twice at once", id)
		}
		return
	}
	m.no(err)
	x.Fold = f
	if len(m.points[id]) > 0 {
		m.folds[id] = x
	}
}

func (m *machine) RunFold(*rapid.T) {
	for _, x := range m.inOrder() {
		if !x.ran {
			m.no(x.Run(context.Background()))
			x.ran = true
			return
		}
	}
}

func (m *machine) inOrder() (folds []*fold) {
	for id := firstID; id <= events; id += stride {
		if x := m.folds[id]; x != nil {
			folds = append(folds, x)
		}
	}
	return folds
}

func (m *machine) EndFold(*rapid.T) {
	id := m.id()
	x := m.folds[id]
	if x == nil {
		return
	}
	delete(m.folds, id)
	ok, err := m.forest.EndFold(x.Fold)
	m.no(err)
	if ok && (!x.ran || x.disturbed) || !ok && x.ran && !x.disturbed && !m.cut {
		m.t.Fatalf("series %d: ended %v, ran %v, disturbed %v", id, ok, x.ran, x.disturbed)
	}
	if !ok {
		return
	}
	m.takeAway(id, x)
	got := m.forest.Fragmented(id)
	if got.Deletions != 0 || x.points == len(m.points[id]) && (got.Lanes != 0 || !x.options.Keep && got.Small != 0) {
		m.t.Fatalf("series %d was folded, and is %+v", id, got)
	}
}

// takeAway marks the points that a fold has left out.
func (m *machine) takeAway(id names.ID, x *fold) {
	points := m.points[id][:x.points]
	for i, p := range points {
		if x.options.Before != 0 && p.time < x.options.Before {
			m.cut = m.cut || !p.gone
			points[i].gone = true
		}
	}
}

// Drop drops the nodes that no series needs. What is in nodes is not in the log any longer.
func (m *machine) Drop(*rapid.T) {
	m.volumes.oldest = m.forest.OldestNode()
	m.log = slices.DeleteFunc(m.log, func(e entry) bool {
		ordinal, late := m.forest.Known(e.id)
		if e.point.place.Late {
			return e.point.place.Ordinal < late
		}
		return e.deletion != nil || e.point.place.Ordinal < ordinal
	})
}
