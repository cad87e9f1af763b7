package timely

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"time"

	"weir/mesh"
)

// Worker runs its part of every dataflow. All workers run the same program and
// build the same dataflows in the same sequence; each gets a share of the records.
// A Worker is used from the goroutine that [Run] calls the program on.
type Worker struct {
	peer      *mesh.Peer
	threads   int         // workers in this process; 0 is all
	flows     []*Dataflow // those not finished
	due       []*Dataflow // those that have something to do
	spare     []*Dataflow // room for the next due
	listeners []func()    // by channel, nil where it is of no interest any more
	pools     map[poolKey]interface{ drain() }
	depots    *depots
	own       map[reflect.Type]any
	idle      []*Operator // to run once there is nothing else to do
	signals   signals
	throttled []*Operator // they make no more records while the worker is congested
	log       *logger     // nil while nobody listens
	census    *census     // nil where there is one worker only
	built     int         // dataflows
	name      string      // of the last
	stepping  bool
	building  int    // dataflows, one within the other
	ended     bool   // the program and its dataflows, without an error or with one
	hold      holder // nil but in a simulation
	batch     int    // records in a full batch; 0 is batchLen
	err       error
}

// Index is the number of this worker, from 0.
func (w *Worker) Index() int { return w.peer.Index() }

// Peers is the number of workers, over all processes.
func (w *Worker) Peers() int { return w.peer.Peers() }

// away says that a worker is in another process.
func (w *Worker) away(worker int) bool {
	return w.threads > 0 && worker/w.threads != w.Index()/w.threads
}

// listen says what to do when messages arrive at a channel.
func (w *Worker) listen(channel int, f func()) {
	for len(w.listeners) <= channel {
		w.listeners = append(w.listeners, nil)
	}
	w.listeners[channel] = f
}

// touch makes sure that a dataflow is among those that are stepped.
func (w *Worker) touch(d *Dataflow) {
	if !d.listed && !d.finished {
		d.listed = true
		w.due = append(w.due, d)
	}
}

// remove forgets a dataflow that is finished.
func (w *Worker) remove(d *Dataflow) {
	w.flows = slices.DeleteFunc(w.flows, func(f *Dataflow) bool { return f == d })
	if len(w.flows) == 0 {
		for _, p := range w.pools {
			p.drain()
		}
	}
}

// Dataflow builds a dataflow. Build is called at once, and may keep the inputs and
// probes that it makes for use afterwards. What is wrong with it ends the run with
// an error that says so. A dataflow may be built at any time but from within an
// operator, and others may be running.
func (w *Worker) Dataflow(name string, build func(*Scope)) *Dataflow {
	if w.stepping {
		misuse("a dataflow is built while the worker steps: operators must not build any")
	}
	d := &Dataflow{worker: w, name: name, batch: cmp.Or(w.batch, batchLen), number: int32(w.built)}
	if name == "" {
		d.name = fmt.Sprintf("dataflow %d", w.built)
	}
	w.built++
	w.name = d.name
	if w.census != nil {
		w.census.check(w)
	}
	complete := false
	w.building++
	defer func() {
		w.building--
		if !complete {
			d.end() // it will never run, but what its operators have begun must end
		}
	}()
	s := &Scope{builder: &builder{flow: d}, depth: 1}
	build(s)
	if err := s.builder.finish(); err != nil {
		fail(err)
	}
	complete = true
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
	switch {
	case w.stepping:
		misuse("the worker is asked to step while it steps: operators must not wait")
	case w.building > 0:
		misuse("the worker is asked to step while it builds dataflow %q: the program steps once it is built", w.name)
	}
	w.stepping = true
	busy := w.signals.handle()
	busy = w.release() || busy
	if w.log != nil {
		busy = w.log.flush() || busy
	}
	w.peer.Ready(func(channel int) {
		if channel < len(w.listeners) && w.listeners[channel] != nil {
			busy = true
			w.listeners[channel]()
		}
	})
	// Those that are touched from here on are for the next step.
	due := w.due
	w.due = w.spare[:0]
	for i, d := range due {
		due[i] = nil
		d.listed = false
		busy = d.step() || busy
		if d.more() {
			w.touch(d)
		}
	}
	w.spare = due
	w.stepping = false
	busy = busy || len(w.due) > 0
	if n := len(w.idle); !busy && n > 0 {
		o := w.idle[0]
		w.idle = slices.Delete(w.idle, 0, 1)
		o.idle, busy = false, true
		o.Activate()
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
// or the time is over. 0 is no limit, and with less than 0 it does not sleep; so where the limit is
// what is left of some time, that must not come out as 0 by chance: max(time.Until(end), 1).
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
// dataflows are finished at all workers, and the programs of all have ended.
func (w *Worker) drain() error {
	if w.census != nil {
		w.census.end(w)
	}
	for _, d := range w.flows {
		for _, in := range d.inputs {
			in.Close()
		}
	}
	if w.log != nil {
		logged := func(d *Dataflow) bool { return !d.quiet }
		if err := w.StepUntil(func() bool { return !slices.ContainsFunc(w.flows, logged) }); err != nil {
			return err
		}
		w.log.close()
	}
	return w.StepUntil(func() bool { return len(w.flows) == 0 && (w.census == nil || w.census.complete(w)) })
}

// Congested says that too much is on its way to some other process, which does not take it as
// fast as it is sent: more than [mesh.Config.Outstanding] bytes. [Source], [ToStream] and [Replay] make no more
// records until it is over; a program that feeds an [Input] should do the same, see [Input.Send]. A
// worker that sleeps is woken when there is room again.
//
// It goes by what the workers of the other process have taken: one that does something else than to
// step, or has not built its dataflow yet, holds up those who send to it.
func (w *Worker) Congested() bool { return w.peer.Congested() }

// throttle says that the operator, which makes records, should make none now. It is run again once
// there is room.
func (w *Worker) throttle(o *Operator) bool {
	if !w.Congested() {
		return false
	}
	// The mesh wakes the worker after it has made room: if that was since the question, the
	// worker does not sleep before its next step, which finds the operator here.
	if !o.throttled {
		o.throttled = true
		w.throttled = append(w.throttled, o)
	}
	return true
}

// release has the throttled operators run again, if there is room. It returns whether any do.
func (w *Worker) release() bool {
	if len(w.throttled) == 0 || w.Congested() {
		return false
	}
	for i, o := range w.throttled {
		o.throttled = false
		o.Activate()
		w.throttled[i] = nil
	}
	w.throttled = w.throttled[:0]
	return true
}

// Stats counts what this process has sent to and got from each process, over all its workers, and 0 for itself.
func (w *Worker) Stats() []mesh.Stats { return w.peer.Stats() }
