package seriesbench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/dustin/go-humanize"

	"weir/series"
)

// fewColumns is how many series differ where memory is measured, or recovery, so that what is written takes little
// memory itself.
const fewColumns = 1000

// Life is what a store of many series costs. Times are in seconds, memory is what the process had beyond what it had
// before, files that it has mapped not counted.
type Life struct {
	Series int `json:"series"`
	Points int `json:"points"`

	Name  float64 `json:"name"`  // until all series had a name
	Write float64 `json:"write"` // until all points were committed
	Close float64 `json:"close"`
	Start float64 `json:"start"` // of a store that was closed

	Memory      int64 `json:"memory"`       // at most, while it was written to
	StartMemory int64 `json:"start_memory"` // at most, while it was opened again
	Bytes       int64 `json:"bytes"`        // of all files
}

// MemoryPerSeries is bytes.
func (l Life) MemoryPerSeries() float64 { return float64(l.Memory) / float64(l.Series) }

// Lives makes a store of each number of series, on one thread with a log, closes it, and opens it again.
func (b *Bench) Lives(ctx context.Context) ([]Life, error) {
	if err := b.Check(); err != nil {
		return nil, err
	}
	var all []Life
	for _, n := range b.Series {
		l := Life{Series: n}
		if err := b.inFolder(func(dir string) error { return l.measure(ctx, dir, b.Points/n) }); err != nil {
			return nil, fmt.Errorf("keep %s series: %w", humanize.Comma(int64(n)), err)
		}
		all = append(all, l)
	}
	return all, nil
}

func (l *Life) measure(ctx context.Context, dir string, rows int) error {
	d, err := mixed(ctx, l.Series, rows, fewColumns)
	if err != nil {
		return err
	}
	l.Points = d.points()
	settle()
	if err := l.write(ctx, dir, d); err != nil {
		return err
	}
	m := watchMemory()
	start := time.Now()
	err = withStore(ctx, dir, true, func(*series.Store) error {
		l.Start, l.StartMemory = time.Since(start).Seconds(), m.end()
		return nil
	})
	if err != nil {
		return err
	}
	z, err := measureSizes(ctx, dir, l.Points)
	l.Bytes = z.all
	return err
}

func (l *Life) write(ctx context.Context, dir string, d *data) error {
	m := watchMemory()
	defer func() { l.Memory = m.end() }()
	var end time.Time
	err := withStore(ctx, dir, true, func(st *series.Store) error {
		start := time.Now()
		ids, err := nameAll(ctx, st, d)
		if err != nil {
			return err
		}
		l.Name = time.Since(start).Seconds()
		took, err := d.write(ctx, st, ids, 1, "memory of "+humanize.Comma(int64(l.Series))+" series")
		l.Write = took.Seconds()
		end = time.Now()
		return err
	})
	l.Close = time.Since(end).Seconds()
	return err
}

// Recovery is how long it takes to open a store whose program was killed.
type Recovery struct {
	Series   int     `json:"series"`
	Points   int     `json:"points"`
	LogBytes int64   `json:"log_bytes"`
	Entries  int     `json:"entries"` // that were read from the log
	Seconds  float64 `json:"seconds"`
}

// Rate is entries of the log a second.
func (r Recovery) Rate() float64 { return float64(r.Entries) / r.Seconds }

// Recoveries writes points to stores of each number of series, copies their files while they are open, which leaves the
// copies as if the program had been killed then, and opens them.
func (b *Bench) Recoveries(ctx context.Context) ([]Recovery, error) {
	if err := b.Check(); err != nil {
		return nil, err
	}
	var all []Recovery
	for _, n := range b.Series {
		d, err := mixed(ctx, n, b.Points/n, fewColumns)
		if err != nil {
			return nil, err
		}
		r := Recovery{Series: n, Points: d.points()}
		if err := b.inFolder(func(dir string) error { return r.measure(ctx, dir, d) }); err != nil {
			return nil, fmt.Errorf("recover %s series: %w", humanize.Comma(int64(n)), err)
		}
		all = append(all, r)
	}
	return all, nil
}

func (r *Recovery) measure(ctx context.Context, dir string, d *data) error {
	original, copied := filepath.Join(dir, "open"), filepath.Join(dir, "killed")
	if err := r.leave(ctx, original, copied, d); err != nil {
		return err
	}
	if err := os.RemoveAll(original); err != nil {
		return err
	}
	settle()
	start := time.Now()
	return withStore(ctx, copied, true, func(st *series.Store) error {
		r.Seconds = time.Since(start).Seconds()
		found := st.Recovery()
		r.Entries = int(found.Entries)
		if found.Clean || len(found.Damage) > 0 {
			return fmt.Errorf("a store that was not closed was clean: %v, damaged: %v", found.Clean, found.Damage)
		}
		stats, err := st.Stats(ctx)
		if err == nil && stats.Points != uint64(r.Points) {
			err = fmt.Errorf("%d points were recovered, expected %d", stats.Points, r.Points)
		}
		return err
	})
}

// leave writes points to a store and copies it before it is closed.
func (r *Recovery) leave(ctx context.Context, original, copied string, d *data) error {
	return withStore(ctx, original, true, func(st *series.Store) error {
		ids, err := nameAll(ctx, st, d)
		if err != nil {
			return err
		}
		if _, err := d.write(ctx, st, ids, 1, "log of "+humanize.Comma(int64(r.Series))+" series"); err != nil {
			return err
		}
		if err := st.Sync(ctx); err != nil {
			return err
		}
		stats, err := st.Stats(ctx)
		if err != nil {
			return err
		}
		r.LogBytes = stats.LogBytes
		return os.CopyFS(copied, os.DirFS(original))
	})
}
