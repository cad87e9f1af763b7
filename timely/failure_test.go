package timely

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"weir/mesh"
)

// runFor is Run, which must return within a time.
func runFor(t *testing.T, limit time.Duration, cfg Config, program func(*Worker) error) error {
	t.Helper()
	result := make(chan error, 1)
	go func() { result <- Run(cfg, program) }()
	select {
	case err := <-result:
		return err
	case <-time.After(limit):
		buf := make([]byte, 1<<20)
		t.Fatalf("the run goes on after %v\n%s", limit, buf[:runtime.Stack(buf, true)])
		return nil
	}
}

// never waits for what does not come: an input that stays open passes no probe.
func never(w *Worker) error {
	var probe Probe
	w.Dataflow("never", func(s *Scope) { NewInput[int](s).Stream().Probe(&probe) })
	return w.StepUntil(probe.Passed(Epoch(0)))
}

// trouble is a dataflow whose operator and end do what they are told.
type trouble struct {
	in    *Input[int]
	flow  *Dataflow
	probe Probe
	do    func()
	end   func()
}

// newTrouble builds the dataflow, and waits until all workers have.
func newTrouble(w *Worker) (*trouble, error) {
	x := &trouble{do: func() {}, end: func() {}}
	x.flow = w.Dataflow("trouble", func(s *Scope) {
		x.in = NewInput[int](s)
		op := NewOperator(s, "agent")
		r := op.Input(x.in.Stream(), Pipeline[int]())
		out, stream := op.Output[int]()
		op.Build(func() { x.do(); pass(r, out) })
		op.AtEnd(func() { x.end() })
		stream.Probe(&x.probe)
	})
	x.in.AdvanceTo(1)
	return x, w.StepUntil(x.probe.Passed(Epoch(0)))
}

// operate has the operator do something, and waits for what does not come.
func (x *trouble) operate(w *Worker, do func()) error {
	x.do = do
	x.in.Send(1)
	return w.StepUntil(x.probe.Passed(Epoch(1)))
}

// TestFailures has one worker of three fail while the others wait.
func TestFailures(t *testing.T) {
	sentinel := errors.New("sentinel")
	for _, c := range []struct {
		name string
		fail func(w *Worker, x *trouble) error
		is   error
		want []string
	}{
		{"the program returns an error", func(*Worker, *trouble) error { return sentinel }, sentinel, nil},
		{"the program panics with an error", func(*Worker, *trouble) error { panic(sentinel) }, sentinel, []string{"worker 1 panicked: sentinel", "failure_test.go"}},
		{"the program panics with a value", func(*Worker, *trouble) error { panic(42) }, nil, []string{"worker 1 panicked: 42", "failure_test.go"}},
		{"the program panics with nil", func(*Worker, *trouble) error { panic(nil) }, nil, []string{"worker 1 panicked"}},
		{"the program leaves by Goexit", func(*Worker, *trouble) error { runtime.Goexit(); return nil }, nil, []string{"worker 1: the program left by runtime.Goexit"}},
		{"an operator panics", func(w *Worker, x *trouble) error { return x.operate(w, func() { panic("ouch") }) }, nil,
			[]string{"worker 1", `operator "agent" of dataflow "trouble"`, "ouch", "failure_test.go"}},
		{"an operator panics with an error", func(w *Worker, x *trouble) error { return x.operate(w, func() { panic(sentinel) }) }, sentinel,
			[]string{"worker 1", `operator "agent"`, "failure_test.go"}},
		{"an operator leaves by Goexit", func(w *Worker, x *trouble) error { return x.operate(w, runtime.Goexit) }, nil, []string{`worker 1: operator "agent" of dataflow "trouble" left by runtime.Goexit`}},
		{"what an operator closes panics", func(w *Worker, x *trouble) error {
			x.end = func() { panic("while it is closed") }
			x.flow.Drop()
			return nil
		}, nil, []string{"while it is closed"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got gather[error]
			err := runFor(t, 5*time.Second, Threads(3), func(w *Worker) error {
				x, err := newTrouble(w)
				if err == nil && w.Index() == 1 {
					return c.fail(w, x)
				}
				if err == nil {
					err = w.StepUntil(x.probe.Passed(Epoch(1)))
				}
				got.add(err)
				return err
			})
			if err == nil || c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("got %v, expected %v", err, c.is)
			}
			for _, want := range c.want {
				if !strings.Contains(fmt.Sprint(err), want) {
					t.Errorf("got %v, expected it to say %q", err, want)
				}
			}
			if len(got.list) != 2 || got.list[0] != err || got.list[1] != err {
				t.Errorf("the others got %v, expected %v", got.list, err)
			}
		})
	}
}

// TestHashPanics has the function by which records are distributed fail: the operator that it was
// given for is named, not the one that sends, nor the program that feeds an input.
func TestHashPanics(t *testing.T) {
	ouch := func(x int) uint64 {
		if x == 13 {
			panic("ouch")
		}
		return 0
	}
	for name, build := range map[string]func(Stream[int]){
		"exchange":  func(s Stream[int]) { s.Exchange(ouch) },
		"aggregate": func(s Stream[int]) { s.Aggregate(ouch, func(*int, int) {}, func(uint64, int) int { return 0 }) },
		"unary": func(s Stream[int]) {
			s.Map(func(x int) int { return x }).Unary("unary", ByHash(ouch), func(in *Reader[int], out *Writer[int], _ *Notificator) { pass(in, out) })
		},
	} {
		for _, records := range []int{1, 2 * BatchLen} { // fewer are sent in a step, more at once
			err := runFor(t, 5*time.Second, Threads(2), func(w *Worker) error {
				var in *Input[int]
				w.Dataflow("hashed", func(s *Scope) {
					in = NewInput[int](s)
					build(in.Stream())
				})
				for range records {
					in.Send(13)
				}
				in.AdvanceTo(1)
				return w.StepUntil(func() bool { return false })
			})
			want := fmt.Sprintf(`operator %q of dataflow "hashed" panicked: ouch`, name)
			if !strings.Contains(fmt.Sprint(err), want) || !strings.Contains(err.Error(), "failure_test.go") {
				t.Errorf("%s, %d records: got %v, expected %q and where", name, records, err, want)
			}
		}
	}
}

// TestEndOfFailed has an operator that panics when it is closed after another failure: the first
// one counts.
func TestEndOfFailed(t *testing.T) {
	sentinel := errors.New("sentinel")
	ended := 0
	err := runFor(t, 5*time.Second, Threads(1), func(w *Worker) error {
		for range 2 {
			x, err := newTrouble(w)
			if err != nil {
				return err
			}
			x.end = func() { ended++; panic("while it is closed") }
		}
		return sentinel
	})
	if err != sentinel || ended != 2 {
		t.Errorf("got %v, and %d of 2 operators were closed", err, ended)
	}
}

func TestContext(t *testing.T) {
	sentinel := errors.New("sentinel")
	for _, threads := range []int{1, 3} {
		ctx, cancel := context.WithCancelCause(t.Context())
		cfg := Threads(threads)
		cfg.Context = ctx
		time.AfterFunc(20*time.Millisecond, func() { cancel(sentinel) })
		if err := runFor(t, 5*time.Second, cfg, never); !errors.Is(err, sentinel) {
			t.Errorf("%d threads: got %v, expected the cause", threads, err)
		}
		// It is over already.
		if err := runFor(t, 5*time.Second, cfg, never); !errors.Is(err, sentinel) && !errors.Is(err, context.Canceled) {
			t.Errorf("%d threads: got %v, expected the cause", threads, err)
		}
		ctx, stop := context.WithTimeout(t.Context(), 20*time.Millisecond)
		cfg.Context = ctx
		if err := runFor(t, 5*time.Second, cfg, never); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%d threads: got %v, expected that the time is over", threads, err)
		}
		stop()
	}
}

// TestErrorsStay has a program that goes on in spite of the error.
func TestErrorsStay(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	cfg := Config{Context: ctx}
	cfg.Threads = 2
	err := runFor(t, 5*time.Second, cfg, func(w *Worker) error {
		never(w)
		if _, err := w.Step(); !errors.Is(err, context.Canceled) {
			t.Errorf("Step returns %v after the run has ended", err)
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestDifferentDataflows has workers build what does not fit together.
func TestDifferentDataflows(t *testing.T) {
	flow := func(name string, operators int, exchange bool) func(*Worker) {
		return func(w *Worker) {
			w.Dataflow(name, func(s *Scope) {
				stream := NewInput[int](s).Stream()
				for range operators {
					stream = stream.Map(func(x int) int { return x })
				}
				if exchange {
					stream.Exchange(func(x int) uint64 { return uint64(x) })
				}
			})
		}
	}
	nothing := func(*Worker) {}
	for _, c := range []struct {
		name string
		a, b []func(*Worker)
		want []string
	}{
		{"names", []func(*Worker){flow("left", 1, false)}, []func(*Worker){flow("right", 1, false)}, []string{"left", "right"}},
		{"shapes", []func(*Worker){flow("same", 1, false)}, []func(*Worker){flow("same", 2, false)}, []string{"same: 2 operators", "same: 3 operators"}},
		{"channels", []func(*Worker){flow("same", 1, true)}, []func(*Worker){flow("same", 2, true)}, []string{"operator 2, exchange", "operator 3, exchange"}},
		{"order", []func(*Worker){flow("left", 1, false), flow("right", 1, false)}, []func(*Worker){flow("right", 1, false), flow("left", 1, false)}, []string{"left", "right"}},
		{"one more", []func(*Worker){flow("left", 1, false), flow("right", 1, true)}, []func(*Worker){flow("left", 1, false)}, []string{"has built 2 dataflows", `"right"`, "has built 1 dataflow", `"left"`}},
		{"one and none", []func(*Worker){flow("left", 1, true)}, []func(*Worker){nothing}, []string{"built 1 dataflow", `"left"`, "built no dataflow"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for swapped := range 2 {
				err := runFor(t, 5*time.Second, Threads(2), func(w *Worker) error {
					for _, build := range [][]func(*Worker){c.a, c.b}[(w.Index()+swapped)%2] {
						build(w)
					}
					return nil
				})
				if !errors.Is(err, mesh.ErrMismatch) {
					t.Fatalf("got %v, expected %v", err, mesh.ErrMismatch)
				}
				for _, want := range c.want {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("got %v, expected it to say %q", err, want)
					}
				}
			}
		})
	}
}

// TestBuildErrors has dataflows that cannot be.
func TestBuildErrors(t *testing.T) {
	for _, c := range []struct {
		name  string
		build func(s *Scope)
		want  []string
	}{
		{"a variable that is not set", func(s *Scope) { LoopVariable[int](s.Loop("round"), 0) }, []string{`loop "round/"`, "never set"}},
		{"a variable that is set twice", func(s *Scope) {
			v := LoopVariable[int](s.Loop("round"), 0)
			v.Set(v.Stream())
			v.Set(v.Stream())
		}, []string{"set twice"}},
		{"a variable outside", func(s *Scope) { v := LoopVariable[int](s, 0); v.Set(v.Stream()) }, []string{"outside of all loops"}},
		{"loops that are too deep", func(s *Scope) {
			for i := range MaxDepth {
				s = s.Loop(fmt.Sprint(i))
			}
		}, []string{`loop "0/1/2/3/"`, "nested 4 deep", "at most 3"}},
		{"an input in a loop", func(s *Scope) { NewInput[int](s.Loop("round")) }, []string{"input is made in a loop"}},
		{"a stream that has not entered", func(s *Scope) {
			in := NewInput[int](s)
			NewOperator(s.Loop("round"), "op").Input(in.Stream(), Pipeline[int]())
		}, []string{`"round/op"`, "enter or leave first"}},
		{"a stream that enters twice as deep", func(s *Scope) { NewInput[int](s).Stream().Enter(s.Loop("a").Loop("b")) }, []string{"directly inside"}},
		{"a stream that leaves the outermost scope", func(s *Scope) { NewInput[int](s).Stream().Leave(s) }, []string{"leaves for a scope"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := runFor(t, 5*time.Second, Threads(2), func(w *Worker) error {
				w.Dataflow("wrong", c.build)
				t.Error("the dataflow was built")
				return nil
			})
			for _, want := range append(c.want, "worker", `dataflow "wrong"`) {
				if !strings.Contains(fmt.Sprint(err), want) {
					t.Errorf("got %v, expected it to say %q", err, want)
				}
			}
			if strings.Contains(fmt.Sprint(err), "goroutine") {
				t.Errorf("a stack is of no use in %v", err)
			}
		})
	}
}

// TestMisuse has programs that use the package as they must not.
func TestMisuse(t *testing.T) {
	// with builds a dataflow and does something with it.
	with := func(f func(w *Worker, s *Scope, in *Input[int])) func(*Worker) {
		return func(w *Worker) {
			var in *Input[int]
			var scope *Scope
			w.Dataflow("misused", func(s *Scope) { in, scope = NewInput[int](s), s })
			f(w, scope, in)
		}
	}
	// inside has an operator do something with the time of its message.
	inside := func(f func(w *Worker, op *Operator, out *Writer[int], t Time)) func(*Worker) {
		return func(w *Worker) {
			var in *Input[int]
			w.Dataflow("misused", func(s *Scope) {
				in = NewInput[int](s)
				op := NewOperator(s, "abuse")
				r := op.Input(in.Stream(), Pipeline[int]())
				out, _ := op.Output[int]()
				op.Build(func() {
					for t, _, ok := r.Next(); ok; t, _, ok = r.Next() {
						f(w, op, out, t)
					}
				})
			})
			in.AdvanceTo(5)
			in.Send(1)
			w.Step()
		}
	}
	for _, c := range []struct {
		name string
		do   func(*Worker)
		want string
	}{
		{"an epoch goes back", with(func(w *Worker, s *Scope, in *Input[int]) { in.AdvanceTo(5); in.AdvanceTo(4) }), "epoch 5 goes back to 4"},
		{"a closed input gets records", with(func(w *Worker, s *Scope, in *Input[int]) { in.Close(); in.Close(); in.Send(1) }), "closed in epoch 0"},
		{"a closed input advances", with(func(w *Worker, s *Scope, in *Input[int]) { in.Close(); in.AdvanceTo(1) }), "closed in epoch 0"},
		{"an input gets records early", func(w *Worker) { w.Dataflow("misused", func(s *Scope) { NewInput[int](s).Send(1) }) }, "before it is built"},
		{"an input is closed early", func(w *Worker) { w.Dataflow("misused", func(s *Scope) { NewInput[int](s).Close() }) }, "before it is built"},
		{"an input is moved early", func(w *Worker) { w.Dataflow("misused", func(s *Scope) { NewInput[int](s).AdvanceTo(1) }) }, "before it is built"},
		{"an operator comes late", with(func(w *Worker, s *Scope, in *Input[int]) { in.Stream().Map(func(x int) int { return x }) }), `operator "map" is added after`},
		{"an operator is connected late", func(w *Worker) {
			var in *Input[int]
			var op *Operator
			w.Dataflow("misused", func(s *Scope) { in, op = NewInput[int](s), NewOperator(s, "late") })
			op.Input(in.Stream(), Pipeline[int]())
		}, `operator "late" is connected after`},
		{"an operator sends before its time", inside(func(w *Worker, op *Operator, out *Writer[int], t Time) { out.Send(Epoch(4), 1) }), "sends at (4)"},
		{"an operator retains an earlier time", inside(func(w *Worker, op *Operator, out *Writer[int], t Time) { op.Retain(Epoch(4)) }), "at (4)"},
		{"a capability goes back", inside(func(w *Worker, op *Operator, out *Writer[int], t Time) { op.Retain(t).Downgrade(Epoch(4)) }), "moved to (4)"},
		{"a capability is used after its end", inside(func(w *Worker, op *Operator, out *Writer[int], t Time) {
			c := op.Retain(t)
			c.Drop()
			c.Drop()
			c.Downgrade(t)
		}), "dropped at (5)"},
		{"an operator steps the worker", inside(func(w *Worker, op *Operator, out *Writer[int], t Time) { w.Step() }), "while it steps"},
		{"an operator waits", inside(func(w *Worker, op *Operator, out *Writer[int], t Time) { w.StepUntil(func() bool { return false }) }), "while it steps"},
		{"an operator builds a dataflow", inside(func(w *Worker, op *Operator, out *Writer[int], t Time) { w.Dataflow("inner", func(*Scope) {}) }), "operators must not build any"},
		{"a dropped dataflow gets records", func(w *Worker) {
			var in *Input[int]
			w.Dataflow("misused", func(s *Scope) { in = NewInput[int](s) }).Drop()
			in.Close()
			in.Send(1)
		}, "closed"},
		{"a dropped dataflow gets records of an open input", func(w *Worker) {
			var in *Input[int]
			w.Dataflow("misused", func(s *Scope) { in = NewInput[int](s) }).Drop()
			in.Send(1)
		}, "which was dropped"},
		{"an unordered input is used early", func(w *Worker) {
			w.Dataflow("misused", func(s *Scope) { NewUnorderedInput[int](s).AdvanceTo(Epoch(1)) })
		}, "before it is built"},
		{"a dropped dataflow gets records of an unordered input", func(w *Worker) {
			var in *UnorderedInput[int]
			w.Dataflow("misused", func(s *Scope) { in = NewUnorderedInput[int](s) }).Drop()
			in.Send(Epoch(0), 1)
		}, "which was dropped"},
		{"a worker steps while it builds", func(w *Worker) {
			w.Dataflow("misused", func(*Scope) { w.Step() })
		}, `while it builds dataflow "misused"`},
		{"a stream has no parts", func(w *Worker) {
			w.Dataflow("misused", func(s *Scope) { NewInput[int](s).Stream().Partition(0, func(int) int { return 0 }) })
		}, "divided into 0 parts"},
		{"the zero stream is mapped", func(w *Worker) { Stream[int]{}.Map(func(x int) int { return x }) }, `"map" has no scope`},
		{"the zero stream is concatenated", func(w *Worker) {
			w.Dataflow("misused", func(s *Scope) { NewInput[int](s).Stream().Concat(Stream[int]{}) })
		}, `"concat" is given the zero Stream`},
		{"the zero stream goes around", func(w *Worker) {
			w.Dataflow("misused", func(s *Scope) { LoopVariable[int](s.Loop("loop"), 0).Set(Stream[int]{}) })
		}, `"loop/variable" is given the zero Stream`},
		{"the zero stream is iterated", func(w *Worker) {
			Stream[int]{}.Iterate("loop", func(s Stream[int]) (a, b Stream[int]) { return s, s })
		}, `"loop" is given the zero Stream`},
		{"a loop returns the zero stream", func(w *Worker) {
			w.Dataflow("misused", func(s *Scope) {
				NewInput[int](s).Stream().Iterate("loop", func(s Stream[int]) (a, b Stream[int]) { return s, b })
			})
		}, `"leave" is given the zero Stream`},
		{"the zero stream enters", func(w *Worker) {
			w.Dataflow("misused", func(s *Scope) { Stream[int]{}.Enter(s.Loop("loop")) })
		}, `"enter" is given the zero Stream`},
		{"a dataflow is dropped early", func(w *Worker) {
			w.Dataflow("misused", func(s *Scope) { s.builder.flow.Drop() })
		}, "while it is being built"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := runFor(t, 5*time.Second, Threads(1), func(w *Worker) error { c.do(w); return nil })
			if !errors.As(err, new(*MisuseError)) || !strings.Contains(fmt.Sprint(err), c.want) || !strings.Contains(fmt.Sprint(err), "worker 0") {
				t.Errorf("got %v, expected a misuse that says %q", err, c.want)
			}
		})
	}
}
