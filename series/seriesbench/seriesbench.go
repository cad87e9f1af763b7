// Package seriesbench measures the series store: how many points a second it takes, with a log and without, on so many
// threads; how many bytes a point then has; how long questions, starts and recoveries take, and how much memory a
// series costs.
//
// What is written is made by package seriesgen, before anything is measured: five kinds of series, mixed, whose points
// are about ten seconds apart, as clocks of collectors are. They come row by row, one point of each series, as they do
// from machines that are watched.
//
//	b := seriesbench.Bench{Series: []int{1000, 100_000}, Points: 20_000_000, Threads: []int{1, 2}, Repetitions: 3}
//	runs, err := b.Ingest(ctx)
//	seriesbench.IngestTable(runs).WriteText(os.Stdout)
//
// Every store is made in a folder of its own, and removed.
package seriesbench

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"weir/series"
	"weir/series/names"
)

// Seed is what all that is written depends on.
const Seed = 1

// Jitter is how much earlier or later than every ten seconds a point may be.
const Jitter = 5 * time.Millisecond

// CommitEvery is how many points a writer adds before it commits them: one request of a collector.
const CommitEvery = 1000

// Bench says what is measured.
type Bench struct {
	Dir         string // stores are made below it, and removed; that of temporary files if empty
	Series      []int  // how many series
	Points      int    // how many points are written in a run, about
	Threads     []int  // how many goroutines write, each to series of its own
	Repetitions int    // of a measurement; the median is shown
}

// Check says what is wrong with a Bench.
func (b *Bench) Check() error {
	switch {
	case len(b.Series) == 0 || slices.Min(b.Series) < 1:
		return errors.New("series: expected numbers from 1 on")
	case slices.Max(b.Series) > maxSeries:
		return fmt.Errorf("series: %d, expected at most %d", slices.Max(b.Series), maxSeries)
	case len(b.Threads) == 0 || slices.Min(b.Threads) < 1:
		return errors.New("threads: expected numbers from 1 on")
	case slices.Max(b.Threads) > slices.Min(b.Series):
		return fmt.Errorf("threads: %d, expected at most one for each of %d series", slices.Max(b.Threads), slices.Min(b.Series))
	case b.Points < slices.Max(b.Series):
		return fmt.Errorf("points: %d, expected at least one for each of %d series", b.Points, slices.Max(b.Series))
	case b.Points > maxPoints:
		return fmt.Errorf("points: %d, expected at most %d", b.Points, maxPoints)
	case b.Repetitions < 1:
		return fmt.Errorf("repetitions: %d, expected at least 1", b.Repetitions)
	}
	return nil
}

const (
	maxSeries = 10_000_000
	maxPoints = 1_000_000_000
)

// inFolder does something with a new folder, which is removed.
func (b *Bench) inFolder(do func(dir string) error) (err error) {
	dir, err := os.MkdirTemp(b.Dir, "weir-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	return do(dir)
}

// withStore opens a store, does something with it, and closes it. Without a log a program that is killed loses what
// is not in volumes yet.
func withStore(ctx context.Context, dir string, log bool, do func(*series.Store) error) error {
	return withOptions(ctx, dir, series.Options{NoLog: !log}, do)
}

func withOptions(ctx context.Context, dir string, o series.Options, do func(*series.Store) error) error {
	st, err := series.Open(ctx, dir, o)
	if err != nil {
		return err
	}
	return errors.Join(do(st), st.Close())
}

// nameAll gives the store names, and returns their IDs.
func nameAll(ctx context.Context, st *series.Store, d *data) ([]names.ID, error) {
	w := st.Writer()
	ids := make([]names.ID, d.series)
	var err error
	for i := range ids {
		if i%CommitEvery == 0 && ctx.Err() != nil {
			err = context.Cause(ctx)
			break
		}
		if ids[i], err = w.Series(d.name(i)); err != nil {
			break
		}
	}
	return ids, errors.Join(err, w.Close())
}

// sizes are bytes of the files of a store that is closed.
type sizes struct {
	all, volumes int64
}

// measureSizes looks at a store that was closed, and checks that as many points are in it as were written.
func measureSizes(ctx context.Context, dir string, points int) (sizes, error) {
	var z sizes
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			z.all += info.Size()
		}
		return err
	})
	if err != nil {
		return z, err
	}
	err = withStore(ctx, dir, true, func(st *series.Store) error {
		stats, err := st.Stats(ctx)
		if err == nil && stats.Points != uint64(points) {
			err = fmt.Errorf("the store has %d points, expected the %d that were written", stats.Points, points)
		}
		z.volumes = stats.VolumeBytes
		return err
	})
	return z, err
}

// median is the one in the middle by a figure.
func median[T any](runs []T, figure func(T) float64) T {
	sorted := slices.SortedFunc(slices.Values(runs), func(a, b T) int {
		switch x, y := figure(a), figure(b); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	return sorted[len(sorted)/2]
}
