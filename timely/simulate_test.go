package timely

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"weir/mesh"
)

// This file checks the protocol of progress as a whole: workers, whose code is that
// of the package, run a random dataflow of random operators, one step of one worker at
// a time, and messages between workers arrive when a random choice says so. An
// oracle, which knows of everything that there is at all workers, checks after each step
// that no worker believes a time to be over that something may still come at, and in
// the end that all know that all is over.

// simulation is one run. It follows from its seed.
type simulation struct {
	seed    uint64
	rng     *rand.Rand
	mesh    *mesh.Mesh
	workers []*simWorker
	links   []*link // with messages or not, in order of their first one
	closing bool    // what there is is only brought to an end
	records int     // that may yet be made
	ids     uint64

	shape *tracker         // of the first worker, of which only what is the same for all is used
	paths [][][]Summary    // of all paths from each place to each other
	there map[presence]int // how many records and capabilities are where, over all workers
	could []Antichain      // the first times at which something might be at each place, if not stale
	stale bool             // there has changed

	damage damage

	verbose  bool
	schedule []string
}

// presence is a place and a time that something is at.
type presence struct {
	at   int32
	time Time
}

// simWorker is a worker of a simulation.
type simWorker struct {
	*Worker
	sim       *simulation
	flow      *Dataflow // nil until it is built
	operators []*simOperator
	inputs    []*Input[ticket]
	unordered []*UnorderedInput[ticket]
	before    []Antichain // what it has believed can come at each place
	speed     int         // how often it is chosen, of 100
}

// link is the way of the messages of one channel from one worker to another.
type link struct {
	channel, from, to int
	speed             int // how often something arrives when it is chosen, of 100
	queue             []func()
}

// failure is what the oracle finds.
type failure struct{ what string }

func (s *simulation) fail(format string, args ...any) { panic(failure{fmt.Sprintf(format, args...)}) }

func (s *simulation) note(format string, args ...any) {
	if s.verbose {
		s.schedule = append(s.schedule, fmt.Sprintf(format, args...))
	}
}

// newSimulation makes the workers. None has built the dataflow yet.
func newSimulation(seed uint64) (*simulation, error) {
	rng := rand.New(rand.NewPCG(seed, 2))
	s := &simulation{seed: seed, rng: rng, records: 20 + rng.IntN(80), there: map[presence]int{}}
	var err error
	if s.mesh, err = mesh.Start(context.Background(), mesh.Config{Threads: []int{1, 2, 2, 2, 3, 3, 3, 4, 4, 4}[rng.IntN(10)]}); err != nil {
		return nil, err
	}
	for _, p := range s.mesh.Workers() {
		w := &simWorker{Worker: &Worker{peer: p}, sim: s, speed: 1 + rng.IntN(100)}
		w.hold = func(channel, to int, m any, deliver func(any)) { s.hold(channel, w.Index(), to, m, deliver) }
		w.batch = []int{0, 1, 2, 5}[rng.IntN(4)]
		s.workers = append(s.workers, w)
	}
	return s, nil
}

// hold queues a message.
func (s *simulation) hold(channel, from, to int, m any, deliver func(any)) {
	at := slices.IndexFunc(s.links, func(l *link) bool { return l.channel == channel && l.from == from && l.to == to })
	if at < 0 {
		at = len(s.links)
		s.links = append(s.links, &link{channel: channel, from: from, to: to, speed: 1 + s.rng.IntN(100)})
	}
	l := s.links[at]
	pieces := []any{m}
	if progress, is := m.([]pointChange); is && s.damage.tear != nil {
		pieces = pieces[:0]
		for _, piece := range s.damage.tear(s.rng, progress) {
			pieces = append(pieces, piece)
		}
	}
	for _, piece := range pieces {
		l.queue = append(l.queue, func() { deliver(piece) })
	}
	if n := len(l.queue); s.damage.overtake {
		late := s.rng.IntN(n)
		l.queue[n-1], l.queue[late] = l.queue[late], l.queue[n-1]
	}
}

// build has a worker build the dataflow.
func (w *simWorker) build() {
	s := w.sim
	s.note("worker %d builds the dataflow", w.Index())
	drawing := rand.New(rand.NewPCG(s.seed, 3))
	k := &sketch{rng: drawing, left: 3 + drawing.IntN(12), deep: 1 + drawing.IntN(MaxDepth)}
	k.made = func(n *drawn) {
		o := &simOperator{drawn: n, at: w, waits: k.chance(3) && n.mayWait()}
		if n.initial {
			for out := range n.out {
				o.owns = append(o.owns, simCapability{out, Time{}})
			}
		}
		if o.waits || k.chance(2) {
			n.op.Watch()
		}
		n.op.Build(o.run)
		w.operators = append(w.operators, o)
	}
	w.flow = w.Dataflow("simulated", k.dataflow)
	defer func() {
		if s.damage.worker != nil {
			s.damage.worker(s.rng, w)
		}
	}()
	w.inputs, w.unordered = k.inputs, k.unordered
	w.before = make([]Antichain, len(w.flow.tracker.places))
	if s.shape != nil {
		return
	}
	s.shape = w.flow.tracker
	s.paths = allPaths(slices.Clone(s.shape.steps))
	for at := range s.shape.places {
		for _, c := range s.shape.places[at].points.counts {
			s.come(int32(at), c.Time, int(c.Delta))
		}
	}
}

// knows says that the worker keeps the frontier of a place.
func (w *simWorker) knows(at int32) bool {
	seen := w.flow.tracker.seen
	return seen == nil || seen[at]
}

// allPaths are the summaries of all paths between each two places, without those that are
// never earlier than another.
func allPaths(steps [][]step) [][][]Summary {
	all := make([][][]Summary, len(steps))
	for from := range all {
		paths := make([][]Summary, len(steps))
		add := func(at int32, s Summary) bool {
			if slices.ContainsFunc(paths[at], func(known Summary) bool { return known.LessEqual(s) }) {
				return false
			}
			paths[at] = append(slices.DeleteFunc(paths[at], s.LessEqual), s)
			return true
		}
		add(int32(from), Identity())
		for todo := []step{{int32(from), Identity()}}; len(todo) > 0; todo = todo[1:] {
			for _, next := range steps[todo[0].to] {
				if s, ok := todo[0].summary.FollowedBy(next.summary); ok && add(next.to, s) {
					todo = append(todo, step{next.to, s})
				}
			}
		}
		all[from] = paths
	}
	return all
}

// come notes that there is something more, or less, at a place.
func (s *simulation) come(at int32, time Time, n int) {
	p := presence{at, time}
	s.there[p] += n
	switch now := s.there[p]; {
	case now == 0:
		delete(s.there, p)
	case now < 0:
		s.fail("something goes from %s at %v, where there is nothing", s.shape.describe(at), time)
	}
	s.stale = true
}

// possible are the first times at which something might still be at each place.
func (s *simulation) possible() []Antichain {
	if s.stale {
		s.could = make([]Antichain, len(s.paths))
		for p := range s.there {
			for to, paths := range s.paths[p.at] {
				for _, path := range paths {
					if time, ok := path.ResultsIn(p.time); ok {
						s.could[to].Insert(time)
					}
				}
			}
		}
		for _, could := range s.could {
			slices.SortFunc(could, Time.Compare) // not in the order of the map
		}
		s.stale = false
	}
	return s.could
}

// check is the oracle.
func (s *simulation) check() {
	for at, could := range s.possible() {
		for _, w := range s.workers {
			if w.flow == nil {
				continue
			}
			if w.flow.finished && len(could) > 0 {
				s.fail("worker %d has finished, but at %s something might come at %v", w.Index(), s.shape.describe(int32(at)), could)
			}
			if !w.knows(int32(at)) {
				continue
			}
			believes := w.flow.tracker.frontier(int32(at))
			if !believes.Dominates(could) {
				s.fail("worker %d believes that only %v can come at %s, but something might come at %v", w.Index(), believes, s.shape.describe(int32(at)), could)
			}
			if before := w.before[at]; !believes.Equal(before) {
				if before != nil && !before.Dominates(believes) {
					s.fail("worker %d has believed that only %v can come at %s, and now that %v can", w.Index(), before, s.shape.describe(int32(at)), believes)
				}
				w.before[at] = append(Antichain{}, believes...)
			}
		}
	}
}

// run is the whole simulation. It returns what is wrong, if something is.
func (s *simulation) run() (wrong string) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case failure:
			wrong = r.what
		case *MisuseError:
			wrong = r.Problem
		default:
			panic(r)
		}
	}()
	s.workers[s.rng.IntN(len(s.workers))].build()
	for range 20 + s.rng.IntN(300) {
		s.act()
		s.check()
		if s.rng.IntN(200) == 0 {
			s.settle()
		}
	}
	s.closing = true
	s.records = 0
	s.note("from here on, all is brought to an end")
	for steps := 0; !s.over(); steps++ {
		if steps == 20_000 {
			return "it does not come to an end: " + s.rest()
		}
		s.act()
		s.check()
	}
	s.settle()
	if len(s.there) > 0 {
		return "all workers have finished, but: " + s.rest()
	}
	return ""
}

func (s *simulation) over() bool {
	return !slices.ContainsFunc(s.workers, func(w *simWorker) bool { return w.flow == nil || !w.flow.finished })
}

// rest shows what there is.
func (s *simulation) rest() string {
	var list []string
	for p, n := range s.there {
		list = append(list, fmt.Sprintf("%d at %s at %v", n, s.shape.describe(p.at), p.time))
	}
	slices.Sort(list)
	for _, w := range s.workers {
		for at := range s.shape.places {
			if f := w.flow.tracker.places[at].reach.Frontier(); len(f) > 0 {
				list = append(list, fmt.Sprintf("worker %d waits for %v at %s", w.Index(), f, s.shape.describe(int32(at))))
			}
		}
	}
	return strings.Join(list, "; ")
}

// settle has all workers hear of everything. Then they believe what is the case, and
// nothing less.
func (s *simulation) settle() {
	if slices.ContainsFunc(s.workers, func(w *simWorker) bool { return w.flow == nil }) {
		return
	}
	s.note("all workers hear of everything")
	for _, w := range s.workers {
		w.flow.tell()
	}
	for _, l := range s.links {
		s.deliver(l, len(l.queue))
	}
	for _, w := range s.workers {
		w.flow.hear()
	}
	s.check()
	for at, could := range s.possible() {
		for _, w := range s.workers {
			if !w.knows(int32(at)) {
				continue
			}
			if believes := w.flow.tracker.frontier(int32(at)); !believes.Equal(could) {
				s.fail("worker %d, which has heard of everything, believes that %v can come at %s, but only %v can", w.Index(), believes, s.shape.describe(int32(at)), could)
			}
		}
	}
}

// act does one thing at random.
func (s *simulation) act() {
	if s.rng.IntN(3) == 0 {
		if waiting := slices.DeleteFunc(slices.Clone(s.links), func(l *link) bool { return len(l.queue) == 0 }); len(waiting) > 0 {
			if l := waiting[s.rng.IntN(len(waiting))]; s.rng.IntN(100) < l.speed || s.closing {
				s.deliver(l, 1+s.rng.IntN(min(3, len(l.queue))))
				return
			}
		}
	}
	w := s.workers[s.rng.IntN(len(s.workers))]
	if s.rng.IntN(100) >= w.speed && !s.closing {
		return
	}
	switch i := s.rng.IntN(10); {
	case w.flow == nil:
		w.build()
	case i == 0:
		s.note("worker %d hears of progress", w.Index())
		w.flow.hear()
	case i == 1:
		s.note("worker %d tells of progress", w.Index())
		w.flow.tell()
	case i == 2:
		if n := w.flow.active.next(s.rng.IntN(len(w.flow.nodes))); n >= 0 && !w.flow.finished {
			s.note("worker %d runs %q", w.Index(), w.flow.shapes[n].name)
			w.flow.active.remove(n)
			w.flow.runNode(w.flow.nodes[n])
		}
	case i <= 4:
		w.feed()
	default:
		s.note("worker %d steps", w.Index())
		if _, err := w.Step(); err != nil {
			s.fail("worker %d fails: %v", w.Index(), err)
		}
	}
}

func (s *simulation) deliver(l *link, n int) {
	if n == 0 {
		return
	}
	s.note("%d messages of channel %d from worker %d arrive at worker %d", n, l.channel, l.from, l.to)
	for _, deliver := range l.queue[:n] {
		deliver()
	}
	l.queue = l.queue[n:]
}

// simulate runs a seed, and if something is wrong once more with a record of
// all that happens.
func simulate(t *testing.T, seed uint64, damage damage) (wrong string, schedule []string) {
	t.Helper()
	for _, verbose := range []bool{false, true} {
		s, err := newSimulation(seed)
		if err != nil {
			t.Fatal(err)
		}
		s.verbose, s.damage = verbose, damage
		again := s.run()
		if err := s.mesh.Close(); err != nil {
			t.Fatal(err)
		}
		if verbose && again != wrong {
			t.Fatalf("seed %d: two runs end differently: %q and %q", seed, wrong, again)
		}
		if again == "" {
			return "", nil
		}
		wrong, schedule = again, s.schedule
	}
	return wrong, schedule
}

func TestProgressAgainstOracle(t *testing.T) {
	seeds := uint64(3000)
	switch {
	case testing.Short():
		seeds = 300
	case raceEnabled:
		seeds = 1000 // there is one goroutine only
	}
	for seed := range seeds {
		if wrong, schedule := simulate(t, seed, damage{}); wrong != "" {
			t.Fatalf("seed %d: %s\nschedule:\n%s", seed, wrong, strings.Join(schedule, "\n"))
		}
	}
}
