package seriesbench

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"weir/internal/huge"
	"weir/internal/progress"
	"weir/internal/seriesgen"
	"weir/series"
	"weir/series/names"
)

// data is points that were made before anything is measured, row by row: point r of column c is at r*columns+c. Where
// there are more series than columns, several have the same points.
type data struct {
	set           seriesgen.Set
	kind          seriesgen.Kind // of all series; seriesgen.Kinds is all of them, mixed
	series        int
	rows, columns int
	times         []int64
	values        []float64
}

// points is how many there are to be written.
func (d *data) points() int { return d.rows * d.series }

func (d *data) generator(i int) *seriesgen.Series {
	if d.kind < seriesgen.Kinds {
		return d.set.Only(d.kind, i)
	}
	return d.set.Series(i)
}

// name is that of series i.
func (d *data) name(i int) string { return d.generator(i).Name }

// mixedSet is what is written where nothing else is said.
func mixedSet() seriesgen.Set { return seriesgen.Set{Seed: Seed, Jitter: Jitter} }

// mixed makes rows of points of each of so many series of all kinds.
func mixed(ctx context.Context, series, rows, columns int) (*data, error) {
	return makeData(ctx, mixedSet(), seriesgen.Kinds, series, rows, columns)
}

// makeData makes points on all cores.
func makeData(ctx context.Context, set seriesgen.Set, kind seriesgen.Kind, series, rows, columns int) (*data, error) {
	d := &data{set: set, kind: kind, series: series, rows: rows, columns: min(columns, series)}
	d.times, d.values = huge.Make[int64](rows*d.columns), huge.Make[float64](rows*d.columns)
	stage := progress.Start(ctx, "generate", int64(rows)*int64(d.columns), progress.Items)
	defer stage.Done()
	var wg sync.WaitGroup
	n := runtime.GOMAXPROCS(0)
	for k := range n {
		wg.Go(func() {
			for c := k * d.columns / n; c < (k+1)*d.columns/n && ctx.Err() == nil; c++ {
				g := d.generator(c)
				for at := c; at < len(d.times); at += d.columns {
					d.times[at], d.values[at] = g.Next()
				}
				stage.Add(int64(rows))
			}
		})
	}
	wg.Wait()
	return d, context.Cause(ctx)
}

// write writes all points to a store, on so many goroutines, each of which has series of its own. It returns once all
// of them are committed.
func (d *data) write(ctx context.Context, st *series.Store, ids []names.ID, threads int, what string) (time.Duration, error) {
	stage := progress.Start(ctx, what, int64(d.points()), progress.Items)
	defer stage.Done()
	errs := make([]error, threads)
	start := time.Now()
	var wg sync.WaitGroup
	for k := range threads {
		wg.Go(func() {
			w := st.Writer()
			from := k * d.series / threads
			err := d.writeSome(ctx, w, ids[from:(k+1)*d.series/threads], from%d.columns, stage)
			errs[k] = errors.Join(err, w.Close())
		})
	}
	wg.Wait()
	return time.Since(start), errors.Join(errs...)
}

// writeSome writes the points of series of which the first has the given column.
func (d *data) writeSome(ctx context.Context, w *series.Writer, ids []names.ID, first int, stage *progress.Stage) error {
	added := 0
	for row := range d.rows {
		times, values := d.times[row*d.columns:][:d.columns], d.values[row*d.columns:][:d.columns]
		column := first
		for _, id := range ids {
			if err := w.Add(id, times[column], values[column]); err != nil {
				return err
			}
			if column++; column == len(times) {
				column = 0
			}
			if added++; added == CommitEvery {
				if err := w.Commit(ctx); err != nil {
					return err
				}
				stage.Add(CommitEvery)
				added = 0
			}
		}
	}
	stage.Add(int64(added))
	return nil // closing commits the rest
}
