package timely

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"weir/mesh"
)

// Config says which workers run a program. The zero Config is one worker.
type Config struct {
	mesh.Config
	// Context ends the run with its error when it is done; nil is never.
	Context context.Context
}

// Threads is n workers in this process.
func Threads(n int) Config { return Config{Config: mesh.Config{Threads: n}} }

func (c Config) context() context.Context {
	if c.Context == nil {
		return context.Background()
	}
	return c.Context
}

// Run starts the workers of this process, connects them with those of the others,
// and runs program on each. It returns once all workers of this process are done, or
// with the first error: of a program, of an operator that panicked, of the context, or of a
// process that was lost. Inputs that a program leaves open are closed when it returns,
// and its dataflows run to their end, which needs all workers everywhere.
//
// An error anywhere ends the run everywhere: whoever steps a worker gets it. A program that
// does something else for long should look at its context by itself.
func Run(cfg Config, program func(*Worker) error) error {
	ctx := cfg.context()
	m, err := mesh.Start(ctx, cfg.Config)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { m.Fail(context.Cause(ctx)) })
	var wg sync.WaitGroup
	shared := &depots{}
	for _, p := range m.Workers() {
		wg.Go(func() {
			w := &Worker{peer: p, threads: len(m.Workers()), depots: shared}
			defer w.end(m)
			if err := w.run(program); err != nil {
				m.Fail(err)
			}
			w.ended = true
		})
	}
	wg.Wait()
	stop()
	failed := m.Err()
	if err := m.Close(); failed == nil {
		failed = err
	}
	return failed
}

// run runs the program and its dataflows to their end.
func (w *Worker) run(program func(*Worker) error) error {
	if w.Peers() > 1 {
		c, err := newCensus(w)
		if err != nil {
			return err
		}
		w.census = c
	}
	if err := program(w); err != nil {
		return err
	}
	return w.drain()
}

// end closes what the operators use, and tells the others what went wrong. It is
// deferred, since a program may also leave by [runtime.Goexit], as testing.T.FailNow does.
func (w *Worker) end(m *mesh.Mesh) {
	r := recover()
	if r == nil && !w.ended {
		m.Fail(fmt.Errorf("%s left by runtime.Goexit", w.atWork("the program")))
	} else if r != nil {
		m.Fail(w.failure(r))
	}
	for _, d := range w.flows {
		func() {
			defer func() {
				if r := recover(); r != nil {
					m.Fail(w.failure(r))
				}
			}()
			d.end()
		}()
	}
}

// failure makes a panic an error. It is called while the worker panics, so that the stack is that of
// the panic.
func (w *Worker) failure(r any) error {
	who := w.atWork("")
	err, isError := r.(error)
	switch {
	case expected(err):
		return fmt.Errorf("%s: %w", who, err)
	case isError:
		return fmt.Errorf("%s panicked: %w\n%s", who, err, debug.Stack())
	}
	return fmt.Errorf("%s panicked: %v\n%s", who, r, debug.Stack())
}

// atWork names the worker and the operator whose function it is in, or whatever else it does.
func (w *Worker) atWork(otherwise string) string {
	for _, d := range w.flows {
		if name := d.atWork(); name != "" {
			otherwise = name
		}
	}
	if otherwise == "" {
		return fmt.Sprintf("worker %d", w.Index())
	}
	return fmt.Sprintf("worker %d: %s", w.Index(), otherwise)
}

// expected says that an error is no bug that a stack would help to find.
func expected(err error) bool {
	return errors.As(err, new(*MisuseError)) || errors.As(err, new(*runError))
}
