package timely

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"weir/mesh"
)

// Worker runs its part of every dataflow. All workers run the same program and
// build the same dataflows in the same sequence; each gets a share of the records.
// A Worker is used from the goroutine that [Run] calls the program on.
type Worker struct {
	peer      *mesh.Peer
	flows     []*Dataflow // those not finished
	listeners []func()    // by channel
	inputs    []interface{ Close() }
	signals   signals
	log       *logger // nil while nobody listens
	built     int
	hold      holder // nil but in a simulation
	err       error
}

// Index is the number of this worker, from 0.
func (w *Worker) Index() int { return w.peer.Index() }

// Peers is the number of workers, over all processes.
func (w *Worker) Peers() int { return w.peer.Peers() }

// listen says what to do when messages arrive at a channel.
func (w *Worker) listen(channel int, f func()) {
	for len(w.listeners) <= channel {
		w.listeners = append(w.listeners, nil)
	}
	w.listeners[channel] = f
}

// touch makes sure that a dataflow is among those that are stepped.
func (w *Worker) touch(d *Dataflow) {
	if !d.finished && !slices.Contains(w.flows, d) {
		w.flows = append(w.flows, d)
	}
}

func (w *Worker) remove(d *Dataflow) {
	w.flows = slices.DeleteFunc(w.flows, func(f *Dataflow) bool { return f == d })
}

// Dataflow builds a dataflow. Build is called at once, and may keep the inputs and
// probes that it makes for use afterwards. What is wrong with it ends the run with
// an error that says so.
func (w *Worker) Dataflow(name string, build func(*Scope)) *Dataflow {
	d := &Dataflow{worker: w, name: name, number: int32(w.built)}
	if name == "" {
		d.name = fmt.Sprintf("dataflow %d", w.built)
	}
	w.built++
	s := &Scope{builder: &builder{flow: d}, depth: 1}
	build(s)
	if err := s.builder.finish(); err != nil {
		panic(err)
	}
	return d
}

// Step does what there is to do for every dataflow, once around. It returns
// whether there was anything.
func (w *Worker) Step() (bool, error) {
	if w.err != nil {
		return false, w.err
	}
	if err := w.peer.Err(); err != nil {
		w.err = err
		return false, err
	}
	busy := w.signals.handle()
	if w.log != nil {
		busy = w.log.flush() || busy
	}
	w.peer.Ready(func(channel int) {
		if channel < len(w.listeners) && w.listeners[channel] != nil {
			busy = true
			w.listeners[channel]()
		}
	})
	for i := 0; i < len(w.flows); {
		d := w.flows[i]
		busy = d.step() || busy
		if i < len(w.flows) && w.flows[i] == d {
			i++
		}
	}
	return busy, nil
}

// StepUntil steps until done says so, and sleeps while there is nothing to do. It
// returns the error that ended the run, if one did.
func (w *Worker) StepUntil(done func() bool) error {
	for !done() {
		if err := w.StepOrPark(0); err != nil {
			return err
		}
	}
	return nil
}

// StepOrPark steps, and where there was nothing to do sleeps until something comes
// or the time is over; 0 is no limit.
func (w *Worker) StepOrPark(limit time.Duration) error {
	busy, err := w.Step()
	if err == nil && !busy {
		w.park(limit)
	}
	return err
}

// park sleeps until something comes or the time is over.
func (w *Worker) park(limit time.Duration) {
	if w.log != nil {
		w.log.event(w, LogEvent{Kind: LogPark})
		defer func() { w.log.event(w, LogEvent{Kind: LogUnpark}) }()
	}
	w.peer.Park(limit)
}

// drain closes the inputs that the program left open and steps until all
// dataflows are finished at all workers.
func (w *Worker) drain() error {
	for _, in := range w.inputs {
		in.Close()
	}
	if w.log != nil {
		logged := func(d *Dataflow) bool { return !d.quiet }
		if err := w.StepUntil(func() bool { return !slices.ContainsFunc(w.flows, logged) }); err != nil {
			return err
		}
		w.log.close()
	}
	return w.StepUntil(func() bool { return len(w.flows) == 0 })
}

// Run starts the workers of this process, connects them with those of the others,
// and runs program on each. It returns once all workers everywhere are done, or
// the first error: of a program, of an operator that panicked, or of a peer that
// was lost. Inputs that a program leaves open are closed when it returns, and its
// dataflows run to their end.
func Run(cfg Config, program func(*Worker) error) error {
	ctx := cfg.context()
	m, err := mesh.Start(ctx, cfg.Config)
	if err != nil {
		return err
	}
	stop := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		select {
		case <-ctx.Done():
			m.Fail(ctx.Err())
		case <-stop:
		}
	})
	var wg sync.WaitGroup
	for _, p := range m.Workers() {
		wg.Go(func() {
			if err := runWorker(&Worker{peer: p}, program); err != nil {
				m.Fail(err)
			}
		})
	}
	wg.Wait()
	close(stop)
	watch.Wait()
	failed := m.Err()
	return errors.Join(failed, m.Close())
}

// runWorker runs the program and turns panics into errors.
func runWorker(w *Worker, program func(*Worker) error) (err error) {
	defer func() {
		for _, d := range w.flows {
			d.end()
		}
		switch r := recover().(type) {
		case nil:
		case operatorPanic:
			err = r.err()
		case *MisuseError:
			err = fmt.Errorf("worker %d: %w", w.Index(), r)
		case error:
			err = fmt.Errorf("worker %d: %w\n%s", w.Index(), r, debug.Stack())
		default:
			err = fmt.Errorf("worker %d panicked: %v\n%s", w.Index(), r, debug.Stack())
		}
	}()
	if err := program(w); err != nil {
		return err
	}
	return w.drain()
}
