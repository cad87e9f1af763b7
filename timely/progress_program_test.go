package timely

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// This file checks that what a program computes does not depend on how many workers run it,
// how large batches are, and when workers step.

// keyval is a record of these programs, with few different keys and values, so that a
// loop that has only distinct ones in it stays small.
type keyval struct{ key, val uint64 }

func (r keyval) hash() uint64 { return HashUint64(r.key<<32 | r.val) }

func newKeyval(x uint64) keyval {
	x = HashUint64(x)
	return keyval{x % 4, x / 4 % 16}
}

// stage is an operator, or several, of a random program.
type stage struct {
	kind       string
	a, b       uint64
	left, with int     // streams, of those that are there
	body       []stage // of a loop
}

func drawStages(t *rapid.T, deep int) []stage {
	kinds := []string{"map", "filter", "flatmap", "exchange", "concat", "branch", "delay", "sum", "accumulate", "distinct", "join", "state", "iterate"}
	if deep > 0 {
		kinds = append(kinds, "loop", "loop")
	}
	stages := make([]stage, rapid.IntRange(1, 5).Draw(t, "stages"))
	for i := range stages {
		s := &stages[i]
		s.kind = rapid.SampledFrom(kinds).Draw(t, "kind")
		s.a, s.b = rapid.Uint64Range(0, 100).Draw(t, "a"), rapid.Uint64Range(0, 100).Draw(t, "b")
		s.left, s.with = rapid.IntRange(0, 5).Draw(t, "left"), rapid.IntRange(0, 5).Draw(t, "with")
		if s.kind == "loop" {
			s.body = drawStages(t, deep-1)
		}
	}
	return stages
}

// landed is a record that came out of a program: of which stream, when, and what.
type landed struct {
	stream string
	time   Time
	record keyval
}

func (a landed) compare(b landed) int {
	return cmp.Or(cmp.Compare(a.stream, b.stream), a.time.Compare(b.time), cmp.Compare(a.record.key, b.record.key), cmp.Compare(a.record.val, b.record.val))
}

// construct makes a program, whose streams all land.
func construct(name string, streams []Stream[keyval], stages []stage, land *gather[landed]) []Stream[keyval] {
	show := func(s Stream[keyval], name string) Stream[keyval] {
		return s.Inspect(func(t Time, r keyval) { land.add(landed{name, t, r}) })
	}
	for i, st := range stages {
		name := fmt.Sprint(name, ".", i, st.kind)
		in, with := streams[st.left%len(streams)], streams[st.with%len(streams)]
		var out []Stream[keyval]
		if st.kind == "loop" {
			out = st.loop(name, in, with, land)
		} else {
			out = st.apply(in, with)
		}
		for j, s := range out {
			streams = append(streams, show(s, fmt.Sprint(name, "/", j)))
		}
	}
	return streams
}

// apply makes the operator of a stage.
func (st stage) apply(in, with Stream[keyval]) []Stream[keyval] {
	key := func(r keyval) uint64 { return r.key }
	switch st.kind {
	case "map":
		return []Stream[keyval]{in.Map(func(r keyval) keyval { return newKeyval(r.hash() + st.a) })}
	case "filter":
		return []Stream[keyval]{in.Filter(func(r keyval) bool { return (r.val+st.a)%4 > 0 })}
	case "flatmap":
		return []Stream[keyval]{in.FlatMap(func(r keyval, emit func(keyval)) {
			for i := range (r.val + st.a) % 3 {
				emit(newKeyval(r.hash() + i))
			}
		})}
	case "exchange":
		return []Stream[keyval]{in.Exchange(key)}
	case "concat":
		return []Stream[keyval]{in.Concat(with)}
	case "branch":
		yes, no := in.Branch(func(r keyval) bool { return (r.val+st.a)%2 == 0 })
		return []Stream[keyval]{yes, no}
	case "delay":
		// To later epochs, or later rounds of the loop around.
		at := int(st.a) % in.scope.depth
		return []Stream[keyval]{in.Delay(func(t Time, r keyval) Time {
			t[at] += (r.val + st.b) % 3
			return t
		})}
	case "sum":
		return []Stream[keyval]{in.Aggregate(key,
			func(so *uint64, r keyval) { *so += r.val },
			func(k, sum uint64) keyval { return keyval{k, sum % 16} })}
	case "accumulate":
		// One value of all workers: of each, and of these on one.
		add := func(so uint64, batch []keyval) uint64 {
			for _, r := range batch {
				so += r.hash()
			}
			return so
		}
		return []Stream[keyval]{in.Accumulate(0, add).Exchange(func(uint64) uint64 { return st.a }).
			Accumulate(0, func(so uint64, batch []uint64) uint64 {
				for _, n := range batch {
					so += n
				}
				return so
			}).Map(newKeyval)}
	case "distinct":
		return []Stream[keyval]{Distinct(in)}
	case "join":
		return []Stream[keyval]{Distinct(join(in, with))}
	case "state":
		// Of a state that follows the order in which records come, only what does not.
		return []Stream[keyval]{in.StateMachine(key, func(k uint64, seen *uint64, r keyval, emit func(keyval)) bool {
			*seen++
			emit(keyval{k, (r.val + st.a) % 16})
			return *seen%5 == 0
		})}
	case "iterate":
		return []Stream[keyval]{in.Iterate("iterate", func(round Stream[keyval]) (again, out Stream[keyval]) {
			halves, odd := round.Exchange(keyval.hash).Branch(func(r keyval) bool { return r.val%2 == 0 && r.val > 0 })
			return halves.Map(func(r keyval) keyval { return keyval{(r.key + 1) % 4, r.val / 2} }), odd
		})}
	}
	panic(st.kind)
}

// join has a record for each pair of records of one key and time.
func join(left, right Stream[keyval]) Stream[keyval] {
	type group struct{ left, right []keyval }
	open := map[Time]*group{}
	by := ByHash(func(r keyval) uint64 { return r.key })
	return left.Binary(right, "join", by, by, func(l, r *Reader[keyval], out *Writer[keyval], n *Notificator) {
		at := func(t Time) *group {
			g := open[t]
			if g == nil {
				g = new(group)
				open[t] = g
				n.NotifyAt(t)
			}
			return g
		}
		for t, data, ok := l.Next(); ok; t, data, ok = l.Next() {
			g := at(t)
			g.left = append(g.left, data...)
		}
		for t, data, ok := r.Next(); ok; t, data, ok = r.Next() {
			g := at(t)
			g.right = append(g.right, data...)
		}
		for t, ok := n.Next(); ok; t, ok = n.Next() {
			for _, a := range open[t].left {
				for _, b := range open[t].right {
					if a.key == b.key {
						out.Send(t, keyval{a.key, (a.val + 3*b.val) % 16})
					}
				}
			}
			delete(open, t)
		}
	})
}

// loop makes a loop of two streams and a variable, or two.
func (st stage) loop(name string, in, with Stream[keyval], land *gather[landed]) []Stream[keyval] {
	outer := in.scope
	loop := outer.Loop(name)
	v, w := LoopVariable[keyval](loop, 1+st.a%4), LoopVariable[keyval](loop, 1+st.b%3)
	entered := []Stream[keyval]{in.Enter(loop), with.Enter(loop), v.Stream(), w.Stream()}
	entered = append(entered, Distinct(entered[0].Concat(entered[2:]...)))
	all := construct(name, entered, st.body, land)
	last := all[len(all)-1]
	again := last.Filter(func(r keyval) bool { return (r.val+st.b)%3 > 0 }).
		Concat(v.Stream().Exchange(keyval.hash).Map(func(r keyval) keyval { return newKeyval(r.hash()) }))
	v.Set(Distinct(again))
	w.Set(Distinct(all[int(st.a)%len(all)]))
	return []Stream[keyval]{last.Leave(outer), Distinct(all[int(st.b)%len(all)].Leave(outer))}
}

func TestProgramsComputeTheSame(t *testing.T) {
	var most int
	rapid.Check(t, func(t *rapid.T) {
		stages := drawStages(t, 2)
		epochs := rapid.SliceOfN(rapid.SliceOfN(rapid.Uint64Range(0, 1000), 0, 12), 1, 4).Draw(t, "epochs")
		run := func(threads, batch int, lockstep bool) []landed {
			var land gather[landed]
			err := Run(Threads(threads), func(w *Worker) error {
				w.batch = batch
				var in *Input[keyval]
				var probe Probe
				w.Dataflow("program", func(s *Scope) {
					in = NewInput[keyval](s)
					all := construct("", []Stream[keyval]{in.Stream()}, stages, &land)
					for _, s := range all {
						s.Probe(&probe)
					}
				})
				for epoch, records := range epochs {
					for i, x := range records {
						if i%threads == w.Index() {
							in.Send(newKeyval(x))
						}
					}
					in.AdvanceTo(uint64(epoch) + 1)
					if lockstep {
						if err := w.StepUntil(probe.Passed(Epoch(uint64(epoch)))); err != nil {
							return err
						}
					}
				}
				return nil
			})
			if err != nil {
				t.Fatalf("%d threads, batches of %d: %v", threads, batch, err)
			}
			slices.SortFunc(land.list, landed.compare)
			return land.list
		}
		want := run(1, 0, true)
		most = max(most, len(want))
		for _, way := range []struct {
			threads, batch int
			lockstep       bool
		}{{1, 1, false}, {2, 0, true}, {2, 3, false}, {3, 2, false}, {4, 1, true}, {4, 0, false}} {
			got := run(way.threads, way.batch, way.lockstep)
			if slices.Equal(got, want) {
				continue
			}
			for i := range max(len(got), len(want)) {
				if i >= len(got) || i >= len(want) || got[i] != want[i] {
					t.Fatalf("%+v: %d records, expected %d; the first that differ are %+v and %+v", way, len(got), len(want), got[i:min(i+1, len(got))], want[i:min(i+1, len(want))])
				}
			}
		}
	})
	t.Logf("up to %d records", most)
}
