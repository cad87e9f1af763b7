package query

import (
	"context"
	"io"
	"iter"
	"regexp"
	"regexp/syntax"
	"runtime"
	"sync"

	"weir/series/query/apply"
	"weir/series/query/format"
	"weir/series/query/rows"
)

// Batch is some rows of an answer: see package rows.
type Batch = rows.Batch

// Options are how a query runs.
type Options struct {
	Memory  int64 // bytes that the query may hold; 256 MiB if 0. With more, rows of very many series come faster by time
	Workers int   // goroutines that read; one a core if 0

	sizes *sizes // other than usual, for tests
}

// sizes is how much is held at once.
type sizes struct {
	batch  int // rows of a batch
	window int // rows that are merged at once, about; as many as there is memory for if 0
	piece  int // spans that are summed up over a group of series at once
}

var usual = sizes{batch: 2048, piece: 4096}

// run is a query that runs.
type run struct {
	p        *plan
	memory   account
	free     int64 // of memory, when rows begin to be read
	workers  int
	sizes    *sizes
	width    int // of rows as they are read
	rowBytes int
	names    []string // of all labels, where rows of any of them come mixed
	pool     sync.Pool
}

// Rows is the answer to a query, read batch by batch. It is to be closed. It is not for several goroutines at once.
type Rows struct {
	r        *run
	q        *Query
	cancel   context.CancelFunc
	e        *emitter
	err      error // of the producer, once out is closed
	pipeline *apply.Pipeline
	counted  int // bytes of the pipeline that memory knows of
	shape    rows.Shape
	skip     uint64
	left     uint64
	last     *Batch
	ended    bool
	final    error
}

// Run answers a query. It reads ahead, on some goroutines, until ctx ends or the rows are closed. Errors are those of
// the source, a *MemoryError, ctx's, and the texts of the original protocol, such as ErrNotFound.
func Run(ctx context.Context, src Source, q *Query, opts Options) (*Rows, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	env := q.env()
	steps := q.Apply
	if env.Width == 0 {
		steps = nil // nothing to compute with
	}
	pipeline, err := apply.New(steps, env)
	if err != nil {
		return nil, err
	}
	if q.Filter.Text != "" && q.Kind == SelectEvents {
		if _, err := compileText(q.Filter.Text); err != nil {
			return nil, err
		}
	}
	r := &run{workers: opts.Workers, width: env.Width, sizes: opts.sizes}
	if r.sizes == nil {
		r.sizes = &usual
	}
	if env.Shape == rows.Text {
		fewer := *r.sizes
		fewer.batch = min(fewer.batch, 256) // a text may have 16 KiB
		r.sizes = &fewer
	}
	r.memory.limit = opts.Memory
	if r.memory.limit == 0 {
		r.memory.limit = 256 << 20
	}
	if r.workers <= 0 {
		r.workers = runtime.GOMAXPROCS(0)
	}
	r.rowBytes = 8 + 8*env.Width
	if env.Shape == rows.Text || q.Kind == Join || q.Kind == GroupAggregateJoin {
		r.rowBytes += 16
	}
	produce := r.produce
	if q.Kind == Names || q.Kind == Search {
		r.p = &plan{q: q, src: src, ix: src.Names()}
		if produce, err = r.findNames(ctx); err != nil {
			return nil, err
		}
	} else {
		if r.p, err = q.plan(ctx, src); err != nil {
			return nil, err
		}
		r.p.piece = r.sizes.piece
		if err := r.memory.take(r.p.bytes()); err != nil {
			return nil, err
		}
	}
	return r.start(ctx, q, pipeline, produce), nil
}

func (r *run) start(ctx context.Context, q *Query, pipeline *apply.Pipeline, produce func(*emitter) error) *Rows {
	ctx, cancel := context.WithCancel(ctx)
	a := &Rows{
		r: r, q: q, cancel: cancel, e: &emitter{ctx, make(chan *Batch, 4)}, pipeline: pipeline,
		shape: pipeline.Shape(), skip: q.Offset, left: q.Limit,
	}
	if q.Limit == 0 {
		a.left = 1<<64 - 1
	}
	go func() {
		defer close(a.e.out)
		a.err = produce(a.e)
	}()
	return a
}

// Shape is what rows have.
func (a *Rows) Shape() rows.Shape { return a.shape }

// Next returns the rows that follow, at least one, or io.EOF. The batch is good until the next call.
func (a *Rows) Next() (*Batch, error) {
	if a.last != nil {
		a.r.pool.Put(a.last)
		a.last = nil
	}
	for !a.ended {
		b, err := a.next()
		if err != nil {
			a.end(err)
			break
		}
		n := uint64(b.Len())
		if drop := min(a.skip, n); drop > 0 {
			b.Slice(int(drop), b.Len())
			a.skip -= drop
			n -= drop
		}
		if n > a.left {
			b.Slice(0, int(a.left))
			n = a.left
		}
		a.left -= n
		if a.left == 0 {
			a.end(io.EOF)
		}
		if n > 0 {
			a.last = b
			return b, nil
		}
	}
	return nil, a.final
}

// next is the next batch behind the pipeline, which may be empty.
func (a *Rows) next() (*Batch, error) {
	b, ok := <-a.e.out
	if !ok {
		if a.err != nil {
			return nil, a.err
		}
		if b := a.pipeline.Finish(); b != nil && b.Len() > 0 {
			a.pipeline = &apply.Pipeline{}
			return b, nil
		}
		return nil, io.EOF
	}
	if len(a.q.Apply) > 0 && a.shape != rows.Text && a.shape != rows.Names {
		a.pipeline.Process(b)
		now := a.pipeline.Bytes()
		err := a.r.memory.take(now - a.counted)
		a.counted = now
		return b, err
	}
	return b, nil
}

// end stops the producer and waits for it.
func (a *Rows) end(err error) {
	if a.ended {
		return
	}
	a.ended, a.final = true, err
	a.cancel()
	for range a.e.out {
	}
}

// Close stops what runs for the answer, and waits until it has.
func (a *Rows) Close() { a.end(io.EOF) }

// WriteTo writes the rest of the rows as the query wants its output. What was read before an error is written.
func (a *Rows) WriteTo(w io.Writer) (int64, error) {
	enc := format.NewEncoder(a.q.Output, a.shape)
	var total int64
	var buf []byte
	for {
		b, err := a.Next()
		if err == nil {
			buf = enc.Append(buf, b)
		}
		if err != nil || len(buf) >= 64<<10 {
			n, werr := w.Write(buf)
			total += int64(n)
			buf = buf[:0]
			if werr != nil {
				a.Close()
				return total, werr
			}
		}
		if err == io.EOF {
			return total, nil
		}
		if err != nil {
			return total, err
		}
	}
}

// Row is one row.
type Row struct {
	Name    string
	Time    int64
	Values  []float64 // good until the next row
	Missing uint64    // a bit for each of Values that is not there
	Text    string
}

// All yields the rest of the rows one by one, and an error at the end if there was one; then the answer is closed.
func (a *Rows) All() iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		defer a.Close()
		for {
			b, err := a.Next()
			if err == io.EOF {
				return
			}
			if err != nil {
				yield(Row{}, err)
				return
			}
			for i := range b.Len() {
				row := Row{Name: b.Name(i), Missing: b.Gaps(i)}
				if len(b.Times) > 0 {
					row.Time = b.Times[i]
				}
				if len(b.Values) > 0 {
					row.Values = b.Row(i)
				}
				if len(b.Texts) > 0 {
					row.Text = b.Texts[i]
				}
				if !yield(row, nil) {
					return
				}
			}
		}
	}
}

func compileText(expr string) (*regexp.Regexp, error) {
	re, err := regexp.Compile(expr)
	if err == nil {
		return re, nil
	}
	if bad, ok := err.(*syntax.Error); ok && bad.Code == syntax.ErrMissingBracket {
		return nil, problem("Unexpected character within '[...]' in regular expression")
	}
	return nil, problem("%s", err)
}
