package order

import (
	"context"

	"weir/internal/huge"
	"weir/internal/par"
)

// Degrees counts the edges out of and into each vertex.
func Degrees(ctx context.Context, e EdgeMap, threads int) (out, in []uint32, err error) {
	n := e.Vertices()
	parts := e.Split(par.Threads(threads))
	counts := make([]degrees, max(len(parts), 1))
	errs := make([]error, len(counts))
	par.Each(len(counts), func(i int) {
		counts[i] = degrees{out: huge.Make[uint32](n), in: huge.Make[uint32](n)}
		if i < len(parts) {
			errs[i] = parts[i].Run(ctx, &counts[i])
		}
	})
	if err := firstError(errs); err != nil {
		return nil, nil, err
	}
	err = par.Range(ctx, len(counts), n, 1<<16, func(_, lo, hi int) {
		for _, c := range counts[1:] {
			for v := lo; v < hi; v++ {
				counts[0].out[v] += c.out[v]
				counts[0].in[v] += c.in[v]
			}
		}
	})
	return counts[0].out, counts[0].in, err
}

// degrees is the kernel that counts.
type degrees struct{ out, in []uint32 }

func (d *degrees) Rows(r Rows) {
	rows, columns := d.out, d.in
	if r.Reversed {
		rows, columns = columns, rows
	}
	lo := r.Offsets[0]
	for i, hi := range r.Offsets[1:] {
		rows[r.First+uint32(i)] += uint32(hi - lo)
		lo = hi
	}
	for _, u := range r.Targets[r.Offsets[0]:lo] {
		columns[u]++
	}
}

func (d *degrees) Square(s Square) {
	for _, p := range s.Pairs {
		d.out[s.X|uint32(p.X)]++
		d.in[s.Y|uint32(p.Y)]++
	}
}
