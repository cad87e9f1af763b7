package differential_test

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"weir/differential"
	"weir/mesh"
	"weir/timely"
)

// kinds are the types that programs are run with. Each takes a while to compile.
var kinds = []struct {
	name string
	run  func(*scenario, []timely.Config) ([]output, error)
}{
	{"uint32, int", run(&builder[uint32, int]{uint32s, ints})},
	{"label, string", run(&builder[label, string]{labels, strs})},
}

// output is an update of a watched node.
type output struct {
	node   int
	rec    rec
	time   timely.Time
	weight int64
}

// run runs a scenario in all processes, which are this one, and returns what comes of it, or says what is wrong on the way.
func run[K, V comparable](b *builder[K, V]) func(*scenario, []timely.Config) ([]output, error) {
	return func(c *scenario, configs []timely.Config) ([]output, error) {
		ctx, cancel := context.WithTimeoutCause(context.Background(), patience, fmt.Errorf("the run does not end"))
		defer cancel()
		var mu sync.Mutex
		var all []output
		errs := make([]error, len(configs))
		var wg sync.WaitGroup
		for i, cfg := range configs {
			cfg.Context = ctx
			wg.Go(func() {
				errs[i] = timely.Run(cfg, func(w *timely.Worker) error {
					r := &runner[K, V]{builder: b, scenario: c, worker: w}
					defer func() {
						mu.Lock()
						defer mu.Unlock()
						all = append(all, r.got...)
					}()
					return r.play()
				})
			})
		}
		wg.Wait()
		return all, cmp.Or(errs...)
	}
}

// patience is how long a run may take.
const patience = time.Minute

// runner is one worker of a run.
type runner[K, V comparable] struct {
	*builder[K, V]
	scenario *scenario
	worker   *timely.Worker
	inputs   []*differential.Input[pair[K, V]]
	probe    timely.Probe
	passed   int // the epochs before it are over
	got      []output
}

func (r *runner[K, V]) play() error {
	c := r.scenario
	r.worker.Dataflow("program", func(s *timely.Scope) {
		var inputs []*forms[K, V]
		for range c.inputs {
			in, collection := differential.NewInput[pair[K, V]](s)
			r.inputs = append(r.inputs, in)
			inputs = append(inputs, fromCollection(collection))
		}
		made := r.build(c.nodes, s, inputs, nil, nil)
		for _, i := range c.watched {
			made[i].asCollection().Updates().Inspect(func(t timely.Time, u differential.Update[pair[K, V]]) {
				if !t.LessEqual(u.Time) || u.Time != timely.Epoch(u.Time[0]) || u.Time[0] < uint64(r.passed) {
					panic(fmt.Sprintf("an update %v came at time %v, when epoch %d was over", u, t, r.passed))
				}
				r.got = append(r.got, output{i, r.rec(u.Data.Key, u.Data.Value), u.Time, u.Weight})
			}).Probe(&r.probe)
		}
	})
	closed := make([]bool, c.inputs)
	for _, a := range c.script {
		if a.worker != r.worker.Index() {
			continue
		}
		in := r.inputs[a.edit.input]
		switch e := a.edit; a.do {
		case "edit":
			x := r.pair(e.rec)
			switch now := uint64(e.epoch) == in.Epoch(); {
			case now && e.weight == 1:
				in.Insert(x)
			case now && e.weight == -1:
				in.Remove(x)
			case now:
				in.Update(x, e.weight)
			default:
				in.UpdateAt(uint64(e.epoch), x, e.weight)
			}
		case "advance":
			in.AdvanceTo(in.Epoch() + uint64(a.n))
		case "step":
			for range a.n {
				if _, err := r.worker.Step(); err != nil {
					return err
				}
			}
		case "wait":
			over := uint64(c.epochs + 2)
			for i, in := range r.inputs {
				if !closed[i] {
					over = min(over, in.Epoch())
				}
			}
			if over > 0 {
				if err := r.worker.StepUntil(r.probe.Passed(timely.Epoch(over - 1))); err != nil {
					return err
				}
				r.passed = max(r.passed, int(over))
			}
		case "close":
			closed[a.edit.input] = true
			in.Close()
		}
	}
	for i, in := range r.inputs {
		if !closed[i] {
			in.Close()
		}
	}
	return r.worker.StepUntil(r.probe.Done)
}

// expect is what each node is after each epoch. Where a loop would not end, or weights grow too large, the program is changed.
func (c *scenario) expect() (epochs [][]multiset) {
	defer func() {
		switch why := recover().(type) {
		case nil:
			return
		case diverges:
			why.loop.limit = 3
		case wild:
			if why.node.tamed {
				panic("what is distinct is wild")
			}
			why.node.tamed = true
		default:
			panic(why)
		}
		epochs = c.expect()
	}()
	for e := range c.epochs + 1 {
		inputs := make([]multiset, c.inputs)
		for i := range inputs {
			inputs[i] = multiset{}
		}
		for _, a := range c.script {
			if a.do == "edit" && a.edit.epoch <= e {
				inputs[a.edit.input].add(a.edit.rec, a.edit.weight)
			}
		}
		epochs = append(epochs, evaluate(c.nodes, inputs, nil, nil, 0))
	}
	return epochs
}

// check runs the scenario, and compares what comes of it with what is expected.
func (c *scenario) check(configs ...timely.Config) error {
	want := c.expect()
	defer differential.SetJoinFuel(c.fuel)()
	if c.forget {
		defer differential.ForgetAlways()()
	}
	if len(configs) == 0 {
		configs = []timely.Config{timely.Threads(c.workers)}
	}
	got, err := kinds[c.kinds].run(c, configs)
	if err != nil {
		return fmt.Errorf("%v\n%w", c, err)
	}
	for _, i := range c.watched {
		seen := map[output]bool{}
		for _, o := range got {
			if o.node != i {
				continue
			}
			if o.time[0] > uint64(c.epochs) {
				return fmt.Errorf("%v\nan output %v after the last epoch", c, o)
			}
			// What is consolidated comes once.
			if o := (output{rec: o.rec, time: o.time}); c.nodes[i].op.consolidates() {
				if seen[o] {
					return fmt.Errorf("%v\nnode %d has several updates of %v at %v", c, i, o.rec, o.time)
				}
				seen[o] = true
			}
		}
		for e := range want {
			sum := multiset{}
			for _, o := range got {
				if o.node == i && o.time[0] <= uint64(e) {
					sum.add(o.rec, o.weight)
				}
			}
			if !maps.Equal(sum, want[e][i]) {
				return fmt.Errorf("%v\nnode %d after epoch %d is\n\t%v, expected\n\t%v", c, i, e, sum, want[e][i])
			}
		}
	}
	return nil
}

// consolidates says that each record changes at most once at a time.
func (o op) consolidates() bool {
	return slices.Contains([]op{opConsolidate, opDistinct, opMin, opMax, opTopK, opThreshold, opReduce}, o)
}

// times is how many cases each test checks, times what it checks by default.
var times = func() int {
	n, err := strconv.Atoi(cmp.Or(os.Getenv("DIFFERENTIAL_TIMES"), "1"))
	if err != nil || n < 1 {
		panic("DIFFERENTIAL_TIMES is not how often to check what is checked once")
	}
	return n
}()

// checks runs a property n times, or as often as DIFFERENTIAL_TIMES says. Rapid prints the seed where it fails.
func checks(t *testing.T, n int, property func(*rapid.T)) {
	t.Helper()
	set := flag.Lookup("rapid.checks").Value
	before := set.String()
	defer set.Set(before)
	if err := set.Set(strconv.Itoa(n * times)); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, property)
}

func checkPrograms(t *testing.T, n int, only op, most, depth, length int) {
	checks(t, n, func(t *rapid.T) {
		s := rapidSource{t}
		c := drawProgram(s, only, most, depth)
		c.drawHistory(s, length, 3)
		if err := c.check(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestOperators checks each operator on its own and behind some others.
func TestOperators(t *testing.T) {
	for _, o := range append(slices.Clone(drawn), opLoop) {
		t.Run(o.String(), func(t *testing.T) { checkPrograms(t, 60, o, 1, 1, 24) })
	}
}

func TestPrograms(t *testing.T) { checkPrograms(t, 1000, opInput, 8, 2, 30) }

func TestNestedLoops(t *testing.T) {
	checkPrograms(t, 300, opLoop, 1, 3, 16)
}

// TestLongHistories has more epochs, over which what was merged is used.
func TestLongHistories(t *testing.T) { checkPrograms(t, 60, opInput, 6, 2, 300) }

// TestProcesses runs programs on two processes.
func TestProcesses(t *testing.T) {
	checks(t, 40, func(t *rapid.T) {
		s := rapidSource{t}
		c := drawProgram(s, opInput, 6, 2)
		threads := 1 + s.below(2)
		c.drawHistory(s, 20, 2*threads)
		if err := c.check(processes(t, 2, threads)...); err != nil {
			t.Fatal(err)
		}
	})
}

// processes are configurations of processes that are all this one.
func processes(t rapid.TB, n, threads int) []timely.Config {
	configs := make([]timely.Config, n)
	addresses := make([]string, n)
	for i := range configs {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		addresses[i] = l.Addr().String()
		configs[i].Config = mesh.Config{Threads: threads, Processes: n, Process: i, Addresses: addresses, Listener: l, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}
	}
	return configs
}

// FuzzPrograms takes bytes for a program and its history.
func FuzzPrograms(f *testing.F) {
	f.Add([]byte("a program and its history are made of these bytes"))
	for i := range byte(8) {
		seed := make([]byte, 200)
		for j := range seed {
			seed[j] = byte(j*j)*(2*i+3) ^ i*byte(j>>2)
		}
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s := &byteSource{data}
		c := drawProgram(s, opInput, 8, 3)
		c.drawHistory(s, 40, 3)
		if err := c.check(); err != nil {
			t.Fatal(err)
		}
	})
}
