package timely

import (
	"fmt"
	"time"
)

// LogKind is what a [LogEvent] tells of.
type LogKind uint8

// Each comment says which fields of a [LogEvent] there are besides At, Worker and Kind.
const (
	// LogOperator: an operator was built (Dataflow, Operator, Name).
	LogOperator LogKind = iota
	// LogChannel: an input was connected (Dataflow, Operator and Port of the output,
	// Target and TargetPort of the input).
	LogChannel
	// LogStart: an operator begins to run (Dataflow, Operator).
	LogStart
	// LogStop: it has run (Dataflow, Operator).
	LogStop
	// LogSend: a batch was sent (Dataflow, Operator and Port, Target and TargetPort, Time,
	// Count records).
	LogSend
	// LogReceive: a batch was taken (Dataflow, Operator and Port of the input, Time, Count records).
	LogReceive
	// LogTell: this worker told the others of progress (Dataflow, Count changes).
	LogTell
	// LogHear: it heard of progress (Dataflow, Count changes).
	LogHear
	// LogDone: a dataflow ended here, or was dropped (Dataflow, Name).
	LogDone
	// LogPark: the worker has nothing to do and goes to sleep.
	LogPark
	// LogUnpark: it is awake again.
	LogUnpark
	logKinds
)

var logNames = [logKinds]string{"operator", "channel", "start", "stop", "send", "receive", "tell", "hear", "done", "park", "unpark"}

func (k LogKind) String() string {
	if k >= logKinds {
		return fmt.Sprintf("LogKind(%d)", uint8(k))
	}
	return logNames[k]
}

// LogEvent is something that a worker did. It has no pointers but for the name, and may travel to other workers.
type LogEvent struct {
	// At is when it was, since the worker began.
	At time.Duration
	// Worker is the index of the worker.
	Worker int32
	// Dataflow is the number of the dataflow: the worker's first is 0.
	Dataflow int32
	// Operator is the number of an operator in the dataflow, in the order in which they were built, and
	// Port that of its input or output.
	Operator, Port int32
	// Target and TargetPort are where a channel leads.
	Target, TargetPort int32
	// Count is how many records or changes.
	Count int64
	Time  Time
	Kind  LogKind
	// Name is that of an operator or dataflow, in the events that say so.
	Name string
}

// logger is what a worker calls about what it does. There is none while nobody
// listens: to log nothing costs one comparison with nil.
type logger struct {
	start   time.Time
	listen  []func(LogEvent)
	streams []*logStream
}

// Log has f called with what the worker does from now on, on the worker. Events of dataflows with a [LogStream]
// are left out, as they would never end. F should be quick.
func (w *Worker) Log(f func(LogEvent)) {
	w.logger().listen = append(w.log.listen, f)
}

func (w *Worker) logger() *logger {
	if w.log == nil {
		w.log = &logger{start: time.Now()}
	}
	return w.log
}

// event hands an event to all who listen.
func (l *logger) event(w *Worker, e LogEvent) {
	e.At, e.Worker = time.Since(l.start), int32(w.Index())
	for _, f := range l.listen {
		f(e)
	}
}

// log tells of an event of the dataflow. It is for callers who know that somebody listens.
func (d *Dataflow) log(e LogEvent) {
	if !d.quiet {
		e.Dataflow = d.number
		d.worker.log.event(d.worker, e)
	}
}

// logShape tells of the operators and channels.
func (d *Dataflow) logShape() {
	for i, s := range d.shapes {
		d.log(LogEvent{Kind: LogOperator, Operator: int32(i), Name: s.name})
	}
	for i, s := range d.shapes {
		for port, edges := range s.targets {
			for _, e := range edges {
				d.log(LogEvent{Kind: LogChannel, Operator: int32(i), Port: int32(port), Target: int32(e.to.node), TargetPort: int32(e.to.port)})
			}
		}
	}
}

// LogStream is a stream of what this worker does from now on, apart from the dataflow of the
// scope itself. An event is in the epoch of At divided by every, in whole numbers,
// so that a window of time is one epoch. The stream ends when the worker's program has
// ended and all other dataflows have.
func LogStream(s *Scope, every time.Duration) Stream[LogEvent] {
	if every <= 0 {
		s.builder.fail("a log stream has epochs of %v, expected a time", every)
		every = 1
	}
	w := s.Worker()
	s.builder.flow.quiet = true
	in := NewInput[LogEvent](s)
	l := &logStream{in: in, every: every}
	// It is not closed with the inputs of the program, since there is more to come.
	s.builder.flow.inputs = nil
	w.logger().streams = append(w.log.streams, l)
	w.Log(func(e LogEvent) { l.waiting = append(l.waiting, e) })
	return in.Stream()
}

// logStream gathers events until the next step of the worker.
type logStream struct {
	in      *Input[LogEvent]
	every   time.Duration
	waiting []LogEvent
}

// flush sends what was gathered. It returns whether there was anything.
func (l *logger) flush() bool {
	some := false
	for _, s := range l.streams {
		if len(s.waiting) == 0 || s.in.closed || !s.in.flow.built {
			continue
		}
		some = true
		for _, e := range s.waiting {
			s.in.AdvanceTo(max(s.in.epoch, uint64(e.At/s.every)))
			s.in.Send(e)
		}
		clear(s.waiting)
		s.waiting = s.waiting[:0]
	}
	return some
}

// close ends the streams, once no other dataflow has anything to say.
func (l *logger) close() {
	l.flush()
	for _, s := range l.streams {
		s.in.Close()
	}
}
