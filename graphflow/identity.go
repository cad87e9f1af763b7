package graphflow

import (
	"context"
	"errors"
	"sync/atomic"

	"weir/graph/order"
	"weir/internal/par"
	"weir/timely"
)

// identity is a number that graphs with other edges do not have, but by accident. It is
// the same for every order of rows and of the edges in them, so that processes may
// have read the graph from files of different formats.
func identity(ctx context.Context, threads int, in order.EdgeMap) (uint64, error) {
	parts := in.Split(threads)
	errs := make([]error, len(parts))
	var sum atomic.Uint64
	par.Each(len(parts), func(i int) {
		var k identityKernel
		errs[i] = parts[i].Run(ctx, &k)
		if k.wrong {
			errs[i] = errRows
		}
		sum.Add(k.sum)
	})
	return sum.Load(), errors.Join(errs...)
}

// identityKernel adds up a number for each edge. It is a product of one for each end: a
// multiplication a row, and little for an edge.
type identityKernel struct {
	sum   uint64
	wrong bool
}

func (k *identityKernel) Square(order.Square) { k.wrong = true }

func (k *identityKernel) Rows(r order.Rows) {
	lo := r.Offsets[0]
	for i, hi := range r.Offsets[1:] {
		var row uint64
		for _, u := range r.Targets[lo:hi] {
			x := (uint64(u) + 1) * 0x9e3779b97f4a7c15 // 2⁶⁴ divided by the golden ratio
			row += x ^ x>>32
		}
		k.sum += row * (timely.HashUint64(uint64(r.First)+uint64(i)+1) | 1)
		lo = hi
	}
}
