package algo

import (
	"context"
	"fmt"
	"sync/atomic"

	"weir/graph/order"
	"weir/internal/par"
	"weir/internal/progress"
)

// LabelPropagation finds connected components as most distributed systems do:
// every vertex starts with its own number as its label, each edge gives the smaller
// label of its two ends to the other one, and passes over the edges repeat until
// one changes nothing. Labels move within a pass, not only between passes, as in
// the published single-threaded program; yet the number of passes grows with the
// diameter, which is why [UnionFind] is faster.
func LabelPropagation(ctx context.Context, edges order.EdgeMap, opt ComponentsOptions) (Components, error) {
	n, threads := edges.Vertices(), par.Threads(opt.Threads)
	labels := newForest(order.PadVertices(n))
	parts := edges.Split(threads)
	stage := progress.Start(ctx, "label propagation", 0, progress.Edges)
	defer stage.Done()
	changed := make([]bool, len(parts))
	for again := true; again; {
		err := eachPart(parts, func(i int) error {
			var err error
			if len(parts) == 1 {
				k := &labelKernel{labels: labels}
				err = parts[i].Run(ctx, k)
				changed[i] = k.changed
			} else {
				k := &sharedLabelKernel{labels: labels}
				err = parts[i].Run(ctx, k)
				changed[i] = k.changed
			}
			return err
		})
		if err != nil {
			return Components{}, fmt.Errorf("label propagation: %w", err)
		}
		again = false
		for _, c := range changed {
			again = again || c
		}
		stage.Add(edges.Edges())
	}
	// A label is the smallest vertex reached, so it is a root already.
	c, err := labels.components(ctx, n, threads)
	if err != nil {
		return Components{}, fmt.Errorf("label propagation: %w", err)
	}
	return c, nil
}

// labelKernel propagates labels on one thread.
type labelKernel struct {
	labels  []uint32
	changed bool
}

func (k *labelKernel) Rows(r order.Rows) {
	labels := k.labels
	lo := r.Offsets[0]
	own := labels[r.First:]
	for i, hi := range r.Offsets[1:] {
		label := own[i]
		for _, u := range r.Targets[lo:hi] {
			if other := labels[u]; label < other {
				labels[u] = label
				k.changed = true
			} else if other < label {
				label = other
				own[i] = label // at once, in case the row holds a loop
				k.changed = true
			}
		}
		lo = hi
	}
}

func (k *labelKernel) Square(s order.Square) {
	xs := (*[order.SquareSide]uint32)(k.labels[s.X:])
	ys := (*[order.SquareSide]uint32)(k.labels[s.Y:])
	changed := k.changed
	for _, p := range s.Pairs {
		if x, y := xs[p.X], ys[p.Y]; x < y {
			ys[p.Y] = x
			changed = true
		} else if y < x {
			xs[p.X] = y
			changed = true
		}
	}
	k.changed = changed
}

// sharedLabelKernel propagates labels that other threads propagate too. A store may
// undo a smaller one of another thread; but then both saw a change, and the next
// pass, which there will be, repairs it.
type sharedLabelKernel struct {
	labels  []uint32
	changed bool
}

func (k *sharedLabelKernel) Rows(r order.Rows) {
	lo := r.Offsets[0]
	for i, hi := range r.Offsets[1:] {
		v := &k.labels[int(r.First)+i]
		for _, u := range r.Targets[lo:hi] {
			k.lower(v, &k.labels[u])
		}
		lo = hi
	}
}

func (k *sharedLabelKernel) Square(s order.Square) {
	xs := (*[order.SquareSide]uint32)(k.labels[s.X:])
	ys := (*[order.SquareSide]uint32)(k.labels[s.Y:])
	for _, p := range s.Pairs {
		k.lower(&xs[p.X], &ys[p.Y])
	}
}

func (k *sharedLabelKernel) lower(x, y *uint32) {
	a, b := atomic.LoadUint32(x), atomic.LoadUint32(y)
	if a < b {
		atomic.StoreUint32(y, a)
		k.changed = true
	} else if b < a {
		atomic.StoreUint32(x, b)
		k.changed = true
	}
}
