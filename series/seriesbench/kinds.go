package seriesbench

import (
	"context"
	"fmt"
	"time"

	"weir/internal/seriesgen"
)

// Size is what points of a kind take once the store is closed.
type Size struct {
	Kind   string        `json:"kind"`
	Jitter time.Duration `json:"jitter"` // of the times, in nanoseconds
	Series int           `json:"series"`
	Points int           `json:"points"`
	Bytes  int64         `json:"bytes"` // of all files
}

// BytesPerPoint counts all files.
func (z Size) BytesPerPoint() float64 { return float64(z.Bytes) / float64(z.Points) }

// Sizes stores points of each kind alone, and of all, at times that are exact and at times that are not. Each store has
// the least number of series, and as many points as are written in a run, at most two million.
func (b *Bench) Sizes(ctx context.Context) ([]Size, error) {
	if err := b.Check(); err != nil {
		return nil, err
	}
	n := b.Series[0]
	for _, m := range b.Series {
		n = min(n, m)
	}
	rows := max(1, min(b.Points, 2_000_000)/n)
	var all []Size
	for _, jitter := range []time.Duration{Jitter, 0} {
		for kind := range seriesgen.Kinds + 1 {
			d, err := makeData(ctx, seriesgen.Set{Seed: Seed, Jitter: jitter}, kind, n, rows, n)
			if err != nil {
				return nil, err
			}
			z := Size{Kind: kindName(kind), Jitter: jitter, Series: n, Points: d.points()}
			err = b.inFolder(func(dir string) error {
				if err := fill(ctx, dir, d); err != nil {
					return err
				}
				s, err := measureSizes(ctx, dir, z.Points)
				z.Bytes = s.all
				return err
			})
			if err != nil {
				return nil, fmt.Errorf("size of %s: %w", z.Kind, err)
			}
			all = append(all, z)
		}
	}
	return all, nil
}

func kindName(k seriesgen.Kind) string {
	if k == seriesgen.Kinds {
		return "mixed"
	}
	return k.String()
}
