package seriesbench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"time"

	"github.com/dustin/go-humanize"

	"weir/internal/progress"
	"weir/internal/seriesgen"
	"weir/series"
	"weir/series/names"
	"weir/series/query"
	"weir/series/query/format"
)

// Read is how long a question takes that was asked before, so that what it needs is in memory of the system.
type Read struct {
	What      string  `json:"what"`
	Series    int     `json:"series"` // that the store has
	Points    int     `json:"points"` // that the store has
	Cores     int     `json:"cores"`  // that work for it; 0 for all
	Seconds   float64 `json:"seconds"`
	Processor float64 `json:"processor"` // what all cores worked; 0 if not known
	Answered  int     `json:"answered"`  // rows of the answer, or points that were decoded
	NodeReads int     `json:"node_reads"`
}

// Rate is rows or points a second.
func (r Read) Rate() float64 { return float64(r.Answered) / r.Seconds }

// The questions that Reads asks.
const (
	WholeMaximum   = "one maximum over all series"
	EachMaximum    = "the maximum of each series"
	DecodeAll      = "decode all points"
	SelectBySeries = "a fifth of the series as CSV, by series"
	SelectByTime   = "a fifth of the series as CSV, by time"
	Spans          = "min, max and mean of each of 400 spans"
)

// A question is asked of a store, and returns how many rows or points it has seen.
type question struct {
	what  string
	cores int // 0 is all
	ask   func(ctx context.Context, st *series.Store) (int, error)
}

// Reads asks questions of stores of each number of series, and of a store of one series that has a point of each second
// of a span of time, which takes so many points.
func (b *Bench) Reads(ctx context.Context, seconds int) ([]Read, error) {
	if err := b.Check(); err != nil {
		return nil, err
	}
	var all []Read
	for _, n := range b.Series {
		d, err := mixed(ctx, n, b.Points/n, n)
		if err != nil {
			return nil, err
		}
		reads, err := b.readStore(ctx, d, []question{
			{WholeMaximum, 0, wholeMaximum},
			{EachMaximum, 0, eachMaximum},
			{DecodeAll, 1, decodeAll},
			{SelectBySeries, 1, selectCSV(query.BySeries)},
			{SelectByTime, 1, selectCSV(query.ByTime)},
		})
		if err != nil {
			return nil, err
		}
		all = append(all, reads...)
	}
	d, err := makeData(ctx, seriesgen.Set{Seed: Seed, Step: time.Second, Jitter: Jitter}, seriesgen.Walk, 1, seconds, 1)
	if err != nil {
		return nil, err
	}
	step := int64(math.Ceil(float64(seconds)/bins)) * int64(time.Second)
	first, last := d.times[0], d.times[len(d.times)-1]
	reads, err := b.readStore(ctx, d, []question{
		{Spans, 0, groups(first, last, step)},
		{DecodeAll, 1, decodeAll},
	})
	return append(all, reads...), err
}

// bins is how many spans a picture has.
const bins = 400

// readStore writes points to a store, closes it, opens it again and asks.
func (b *Bench) readStore(ctx context.Context, d *data, questions []question) (all []Read, err error) {
	err = b.inFolder(func(dir string) error {
		if err := fill(ctx, dir, d); err != nil {
			return err
		}
		return withStore(ctx, dir, true, func(st *series.Store) error {
			stage := progress.Start(ctx, "ask", int64(len(questions)), progress.Items)
			defer stage.Done()
			for _, q := range questions {
				r := Read{What: q.what, Series: d.series, Points: d.points(), Cores: q.cores}
				if err := r.measure(ctx, st, q, b.Repetitions); err != nil {
					return fmt.Errorf("%s: %w", q.what, err)
				}
				all = append(all, r)
				stage.Add(1)
			}
			return nil
		})
	})
	return all, err
}

// fill makes a store as quickly as can be.
func fill(ctx context.Context, dir string, d *data) error {
	return withStore(ctx, dir, false, func(st *series.Store) error {
		ids, err := nameAll(ctx, st, d)
		if err == nil {
			_, err = d.write(ctx, st, ids, min(runtime.GOMAXPROCS(0), d.series), "fill a store of "+humanize.Comma(int64(d.series))+" series")
		}
		return err
	})
}

// shortest is how long a question is asked again and again for a figure of one repetition.
const shortest = 20 * time.Millisecond

func (r *Read) measure(ctx context.Context, st *series.Store, q question, repetitions int) error {
	if q.cores > 0 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(q.cores))
	}
	stats, err := st.Stats(ctx)
	if err != nil {
		return err
	}
	if r.Answered, err = q.ask(ctx, st); err != nil { // not hot yet
		return err
	}
	if r.Answered == 0 {
		return errors.New("the answer is empty")
	}
	after, err := st.Stats(ctx)
	if err != nil {
		return err
	}
	r.NodeReads = int(after.IO.Reads - stats.IO.Reads)
	type figure struct{ seconds, processor float64 }
	var all []figure
	for range repetitions {
		runtime.GC()
		n := 0
		used, start := processorTime(), time.Now()
		for n == 0 || time.Since(start) < shortest {
			if _, err := q.ask(ctx, st); err != nil {
				return err
			}
			n++
		}
		took := time.Since(start)
		all = append(all, figure{took.Seconds() / float64(n), (processorTime() - used).Seconds() / float64(n)})
	}
	m := median(all, func(f figure) float64 { return f.seconds })
	r.Seconds, r.Processor = m.seconds, m.processor
	return nil
}

// rowsOf asks, and looks at all rows without making texts of them.
func rowsOf(ctx context.Context, st *series.Store, q *query.Query, look func(*query.Batch)) (int, error) {
	answer, err := st.Query(ctx, q, query.Options{})
	if err != nil {
		return 0, err
	}
	defer answer.Close()
	n := 0
	for {
		batch, err := answer.Next()
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		n += batch.Len()
		look(batch)
	}
}

// eachMaximum asks, for each kind of series, for the maximum of each series.
func eachMaximum(ctx context.Context, st *series.Store) (int, error) {
	n := 0
	for k := range seriesgen.Kinds {
		q := &query.Query{Kind: query.Aggregate, Metrics: []string{k.String()}, Functions: []query.Function{query.Max}, From: math.MinInt64, To: math.MaxInt64}
		rows, err := rowsOf(ctx, st, q, func(*query.Batch) {})
		if err != nil && !errors.Is(err, query.ErrNotFound) { // where there are fewer series than kinds
			return 0, err
		}
		n += rows
	}
	return n, nil
}

// wholeMaximum asks for one value: by merging, for each kind, the series of each region, and then those.
func wholeMaximum(ctx context.Context, st *series.Store) (int, error) {
	most, n := math.Inf(-1), 0
	for k := range seriesgen.Kinds {
		q := &query.Query{
			Kind: query.Aggregate, Metrics: []string{k.String()}, Functions: []query.Function{query.Max},
			Group: query.Grouping{Keys: []string{"host"}}, From: math.MinInt64, To: math.MaxInt64,
		}
		_, err := rowsOf(ctx, st, q, func(b *query.Batch) {
			for _, v := range b.Values {
				most = max(most, v)
				n = 1
			}
		})
		if err != nil && !errors.Is(err, query.ErrNotFound) {
			return 0, err
		}
	}
	return n, nil
}

// groups asks for spans of the first series.
func groups(from, to, step int64) func(ctx context.Context, st *series.Store) (int, error) {
	return func(ctx context.Context, st *series.Store) (int, error) {
		return rowsOf(ctx, st, &query.Query{
			Kind: query.GroupAggregate, Metrics: []string{seriesgen.Walk.String()}, Functions: []query.Function{query.Min, query.Max, query.Mean},
			From: from, To: to, Step: step,
		}, func(*query.Batch) {})
	}
}

// selectCSV writes all points of the walks as text.
func selectCSV(order query.Order) func(ctx context.Context, st *series.Store) (int, error) {
	return func(ctx context.Context, st *series.Store) (int, error) {
		q := &query.Query{
			Kind: query.Select, Metrics: []string{seriesgen.Walk.String()}, From: math.MinInt64, To: math.MaxInt64,
			Order: order, Output: format.Output{Format: format.CSV},
		}
		answer, err := st.Query(ctx, q, query.Options{Workers: 1})
		if err != nil {
			return 0, err
		}
		defer answer.Close()
		var lines lineCounter
		_, err = answer.WriteTo(&lines)
		return int(lines), err
	}
}

// lineCounter counts lines.
type lineCounter int

func (c *lineCounter) Write(p []byte) (int, error) {
	for _, b := range p {
		if b == '\n' {
			*c++
		}
	}
	return len(p), nil
}

// decodeAll reads the points of all series, one after the other.
func decodeAll(ctx context.Context, st *series.Store) (int, error) {
	const length = 4096
	times, values := make([]int64, length), make([]float64, length)
	total := 0
	for id := range st.Names().Next() {
		points, err := st.Points(ctx, names.ID(id), math.MinInt64, math.MaxInt64, false, nil)
		if err != nil {
			return total, err
		}
		for {
			n, err := points.Next(times, values)
			total += n
			if err != nil {
				points.Close()
				return total, err
			}
			if n < length {
				break
			}
		}
		points.Close()
	}
	return total, nil
}
