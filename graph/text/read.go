package text

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"weir/graph/names"
	"weir/internal/par"
	"weir/internal/progress"
)

// Read reads the graph in the text of in, which must not have been read before.
// It hands the edges to sink in chunks, one at a time and in file order, from
// the goroutine that called Read. An error of sink ends the reading and is
// returned as it is. What a line holds, what is refused and how vertices get
// their numbers is told in the package comment.
func Read(ctx context.Context, in *Input, opt Options, sink func(Chunk) error) (*Result, error) {
	opt, err := opt.settled()
	if err != nil {
		return nil, err
	}
	if in.used {
		return nil, fmt.Errorf("read graph %s: it was read already", in.name)
	}
	p, err := in.plan(opt)
	if err != nil {
		return nil, err
	}
	in.used = true
	r := &reading{
		in: in, plan: p, opt: &opt, pool: newPool(), sink: sink,
		tally: p.before, threads: par.Threads(opt.Threads),
	}
	if p.integers && !p.fixed && !opt.KeepIDs {
		r.seen = names.NewSet()
	}
	r.stage = progress.Start(ctx, "read "+filepath.Base(in.name), in.size, progress.Bytes)
	defer r.stage.Done()
	if err := r.run(ctx); err != nil {
		return nil, err
	}
	return r.result()
}

// run parses all chunks and merges their parts in order.
func (r *reading) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	// Room for the parts that wait for an earlier one.
	inFlight := 2*r.threads + 2
	var src source
	if r.in.at != nil {
		src = &randomSource{in: r.in, opt: r.opt, body: r.body}
		if r.threads == 1 {
			defer cancel()
			return r.alone(ctx, src)
		}
	} else {
		stream := startStream(ctx, r.in, r.body, r.opt, inFlight)
		src = stream
		if r.in.size > 0 {
			// A file never makes us wait; a pipe or a terminal may, after a cancel, for ever.
			defer func() { <-stream.ended }()
		}
	}
	defer cancel()

	type outcome struct {
		part *part
		err  error
	}
	tokens := make(chan struct{}, inFlight)
	outcomes := make(chan outcome, inFlight+r.threads)
	var workers sync.WaitGroup
	for range r.threads {
		workers.Go(func() {
			ps := newParser(r.in, r.plan, r.opt, r.pool)
			for {
				// The token comes before the chunk: so the earliest chunk that
				// is not merged always has one.
				select {
				case tokens <- struct{}{}:
				case <-ctx.Done():
					return
				}
				c, ok, err := src.next(ctx)
				if err != nil {
					outcomes <- outcome{err: err}
					return
				}
				if !ok {
					return
				}
				ps.dict = r.dictionary.Load()
				out := ps.parse(c.b, c.n, c.index)
				if out.fatal == nil {
					out.fatal = c.broken
				}
				src.done(c)
				outcomes <- outcome{part: out}
			}
		})
	}
	go func() {
		workers.Wait()
		close(outcomes)
	}()
	waiting := map[int]*part{}
	next := 0
	var failure error
	for o := range outcomes {
		switch {
		case failure != nil:
			continue // drain
		case o.err != nil:
			failure = o.err
		default:
			waiting[o.part.index] = o.part
		}
		for failure == nil {
			out := waiting[next]
			if out == nil {
				break
			}
			delete(waiting, next)
			next++
			failure = r.merge(ctx, out, src)
			<-tokens
		}
		if failure != nil {
			cancel()
		}
	}
	return r.blame(ctx, failure)
}

// alone reads on one thread.
func (r *reading) alone(ctx context.Context, src source) error {
	ps := newParser(r.in, r.plan, r.opt, r.pool)
	for {
		c, ok, err := src.next(ctx)
		if err != nil || !ok {
			return r.blame(ctx, err)
		}
		ps.dict = r.dictionary.Load()
		out := ps.parse(c.b, c.n, c.index)
		src.done(c)
		if err := r.merge(ctx, out, src); err != nil {
			return err
		}
	}
}

// blame prefers the error of the caller's context to what it led to.
func (r *reading) blame(ctx context.Context, err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("read graph %s: %w", r.in.name, err)
	}
	return err
}
