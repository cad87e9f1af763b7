package query

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"weir/series/aggregate"
	"weir/series/names"
)

var errBroken = errors.New("broken")

// failing is a memory that fails, or whose reader goes away, at a moment.
type failing struct {
	*memory
	left   atomic.Int64 // calls until then
	cancel context.CancelFunc
}

func (f *failing) fail() error {
	if f.left.Add(-1) >= 0 {
		return nil
	}
	if f.cancel != nil {
		f.cancel()
		return nil // whoever asked has to find out
	}
	return errBroken
}

type failingPoints struct {
	Points
	f *failing
}

type failingGroups struct {
	Groups
	f *failing
}

type failingEvents struct {
	Events
	f *failing
}

func (f *failing) Points(ctx context.Context, id names.ID, from, to int64, backward bool, keep *aggregate.Bounds) (Points, error) {
	if err := f.fail(); err != nil {
		return nil, err
	}
	in, err := f.memory.Points(ctx, id, from, to, backward, keep)
	return failingPoints{in, f}, err
}

func (f *failing) Groups(ctx context.Context, id names.ID, from, to, step int64, backward bool) (Groups, error) {
	if err := f.fail(); err != nil {
		return nil, err
	}
	in, err := f.memory.Groups(ctx, id, from, to, step, backward)
	return failingGroups{in, f}, err
}

func (f *failing) Events(ctx context.Context, id names.ID, from, to int64, backward bool) (Events, error) {
	if err := f.fail(); err != nil {
		return nil, err
	}
	in, err := f.memory.Events(ctx, id, from, to, backward)
	return failingEvents{in, f}, err
}

func (f *failing) Aggregate(ctx context.Context, id names.ID, from, to int64) (aggregate.Aggregate, error) {
	if err := f.fail(); err != nil {
		return aggregate.Aggregate{}, err
	}
	return f.memory.Aggregate(ctx, id, from, to)
}

func (p failingPoints) Next(times []int64, values []float64) (int, error) {
	if err := p.f.fail(); err != nil {
		return 0, err
	}
	return p.Points.Next(times, values)
}

func (g failingGroups) Next(groups []Group) (int, error) {
	if err := g.f.fail(); err != nil {
		return 0, err
	}
	return g.Groups.Next(groups)
}

func (e failingEvents) Next(times []int64, texts []string) (int, error) {
	if err := e.f.fail(); err != nil {
		return 0, err
	}
	return e.Events.Next(times, texts)
}

// TestFailures breaks a source, or cancels, or closes the answer, at any moment: what was answered until then is right,
// the error is told, everything that was opened is closed, and the memory is given back.
func TestFailures(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMemory(t)
		q, hosts := drawQuery(t)
		want := model(m, q, hosts)
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		f := &failing{memory: m}
		f.left.Store(rapid.Int64Range(0, 100).Draw(t, "calls"))
		cancels := rapid.Bool().Draw(t, "cancels")
		if cancels {
			f.cancel = cancel
		}
		answer, err := Run(ctx, f, q, Options{
			Workers: rapid.IntRange(1, 4).Draw(t, "workers"),
			sizes: &sizes{
				batch: rapid.IntRange(1, 8).Draw(t, "batch"), window: rapid.IntRange(1, 100).Draw(t, "window"), piece: rapid.IntRange(1, 5).Draw(t, "piece"),
			},
		})
		if err != nil {
			return
		}
		closeAfter := rapid.IntRange(0, 200).Draw(t, "closed after")
		n := 0
		for n < closeAfter {
			var b *Batch
			if b, err = answer.Next(); err != nil {
				break
			}
			for i := range b.Len() {
				if n == len(want) || b.Name(i) != want[n].name || b.Times[i] != want[n].time {
					t.Fatalf("%+v: row %d is %s @%d", q, n, b.Name(i), b.Times[i])
				}
				n++
			}
		}
		answer.Close()
		failed := f.left.Load() < 0
		switch {
		case err == io.EOF && n != len(want):
			t.Fatalf("%+v: %d rows of %d, and no error", q, n, len(want))
		case err == io.EOF || err == nil:
		case !failed || !cancels && err != errBroken || cancels && err != context.Canceled:
			t.Fatalf("%+v: %v", q, err)
		}
		m.open.Wait()
		held := int64(answer.r.p.bytes())
		if answer.r.names != nil {
			held += int64(16 * len(answer.r.names))
			for _, name := range answer.r.names {
				held += int64(len(name))
			}
		}
		if left := answer.r.memory.used.Load(); left > held {
			t.Fatalf("%+v: %d bytes are counted, but %d held", q, left, held)
		}
	})
}
