package differential

import (
	"slices"

	"weir/differential/trace"
	"weir/differential/word"
	"weir/timely"
)

// local is what the operators of a worker share.
type local struct {
	lexicons word.Lexicons
	interned bool     // some type is kept in a lexicon
	indices  []*index // that dataflows have now
}

// traffic counts the batches of an index that are on their way to operators, and so in no
// index: what is forgotten in the meantime must not be in them.
type traffic struct {
	listeners int // how many operators each is sent to
	flying    int
}

// words is a codec of any type.
type words interface {
	Packed() bool
	Hold(visit func(mark func(w uint64))) (release func())
	HoldColumns(columns func(to [][]uint64) [][]uint64) (release func())
}

// codec is how the worker of the scope makes words of a type.
func codec[T comparable](s *timely.Scope) *word.Codec[T] {
	shared := timely.Own[local](s.Worker())
	c, err := word.New[T](&shared.lexicons)
	if err != nil {
		panic(&timely.MisuseError{Problem: err.Error()})
	}
	shared.interned = shared.interned || !c.Packed()
	return c
}

// upkeep does for an index what is due now and then, on behalf of the operator that keeps it.
type upkeep struct {
	op    *timely.Operator
	trace *trace.Trace
	busy  bool // the operator has done something else in this run
	local *local
}

// upkeepFuel is how many changes are merged in one go: some 30 microseconds' worth, for which others wait.
const upkeepFuel = 1 << 11

// newUpkeep also says that the words of the index are in use, until the dataflow ends.
func newUpkeep(op *timely.Operator, x *index) *upkeep {
	u := &upkeep{op: op, trace: x.trace, local: timely.Own[local](x.scope().Worker())}
	u.local.indices = append(u.local.indices, x)
	op.AtEnd(func() {
		u.local.indices = slices.DeleteFunc(u.local.indices, func(other *index) bool { return other == x })
	})
	op.AtEnd(x.hold())
	return u
}

// hold says that the words of the index are in use until release is called.
func (x *index) hold() (release func()) {
	keys := x.keys.HoldColumns(func(to [][]uint64) [][]uint64 { return x.trace.Columns(false, to) })
	values := x.values.HoldColumns(func(to [][]uint64) [][]uint64 { return x.trace.Columns(true, to) })
	return func() {
		keys()
		values()
	}
}

// holds says that words which change hands are in use: those of the columns that it is
// given when it is asked.
func (u *upkeep) holds(of words, columns func(to [][]uint64) [][]uint64) {
	u.op.AtEnd(of.Hold(func(mark func(uint64)) {
		for _, c := range columns(nil) {
			for _, w := range c {
				mark(w)
			}
		}
	}))
}

// tidy forgets words. Tests have it forget all that it may at every turn.
var tidy = (*word.Lexicons).Tidy

// run merges what inserting has not, when the worker has nothing else to do, so that an index that is left
// alone shrinks to what it must be; and forgets words.
func (u *upkeep) run() {
	if u.local.interned && !slices.ContainsFunc(u.local.indices, func(x *index) bool { return x.traffic.flying > 0 }) {
		tidy(&u.local.lexicons)
	}
	fuel := upkeepFuel
	if u.busy {
		fuel = 0
	}
	u.busy = false
	more, err := u.trace.Work(fuel)
	if err != nil {
		fail(err)
	}
	if more {
		u.op.ActivateIdle()
	}
}
