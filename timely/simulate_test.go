package timely

import (
	"cmp"
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

// simOperator is a random operator at one worker.
type simOperator struct {
	*drawn
	at    *simWorker
	owns  []simCapability
	waits bool // it keeps capabilities until their time is over at its inputs
}

// mayWait says that the operator can wait for times to be over without an end to
// wait for itself: what it holds comes around to it at a later time, or not at all.
// That is not so if it is on its inside that a cycle advances time.
func (n *drawn) mayWait() bool {
	for _, outputs := range n.paths {
		for _, paths := range outputs {
			if !slices.Contains(paths, Identity()) {
				return false
			}
		}
	}
	return true
}

// simCapability is a capability at one output.
type simCapability struct {
	out  int
	time Time
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
		case operatorPanic:
			wrong = fmt.Sprint(r.value)
			if f, is := r.value.(failure); is {
				wrong = f.what
			}
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

// feed does something with an input of the worker.
func (w *simWorker) feed() {
	s := w.sim
	if n := len(w.unordered); n > 0 && s.rng.IntN(2) == 0 {
		w.feedUnordered(w.unordered[s.rng.IntN(n)])
		return
	}
	in := w.inputs[s.rng.IntN(len(w.inputs))]
	if in.closed {
		return
	}
	at := s.shape.output(in.node.id, 0)
	epoch := in.Epoch()
	switch i := s.rng.IntN(20); {
	case i == 0 || s.closing:
		s.note("worker %d closes its input in epoch %d", w.Index(), epoch)
		in.Close()
		s.come(at, Epoch(epoch), -1)
	case i < 10:
		for _, r := range s.tickets(in.out, Epoch(epoch), 1+s.rng.IntN(4)) {
			s.note("worker %d sends record %d in epoch %d", w.Index(), r.id, epoch)
			in.Send(r)
		}
	default:
		next := epoch + 1 + uint64(s.rng.IntN(2))
		s.note("worker %d goes from epoch %d to %d", w.Index(), epoch, next)
		in.AdvanceTo(next)
		s.come(at, Epoch(next), 1)
		s.come(at, Epoch(epoch), -1)
	}
}

func (w *simWorker) feedUnordered(in *UnorderedInput[ticket]) {
	s := w.sim
	open := in.Frontier()
	if len(open) == 0 {
		return
	}
	depth := in.stream.scope.depth
	if s.rng.IntN(2) == 0 && !s.closing {
		time := s.later(open[s.rng.IntN(len(open))], depth)
		for _, r := range s.tickets(in.out, time, 1+s.rng.IntN(3)) {
			s.note("worker %d sends record %d at %v", w.Index(), r.id, time)
			in.Send(time, r)
		}
		return
	}
	var next []Time
	for _, t := range open {
		for range s.rng.IntN(3) {
			if !s.closing {
				next = append(next, s.later(t, depth))
			}
		}
	}
	s.note("worker %d opens its input from %v on", w.Index(), next)
	in.AdvanceTo(next...)
	at := s.shape.output(in.node.id, 0)
	for _, t := range in.Frontier() {
		s.come(at, t, 1)
	}
	for _, t := range open {
		s.come(at, t, -1)
	}
}

// later is t or a later time.
func (s *simulation) later(t Time, depth int) Time {
	for range s.rng.IntN(3) * s.rng.IntN(2) {
		t[s.rng.IntN(depth)] += uint64(1 + s.rng.IntN(2))
	}
	return t
}

// tickets makes records to be sent at an output, at most n.
func (s *simulation) tickets(out *output[ticket], t Time, n int) []ticket {
	var list []ticket
	for range min(n, s.records) {
		s.records--
		s.ids++
		s.sent(out, t)
		list = append(list, ticket{s.ids, 2 + s.rng.IntN(8)})
	}
	return list
}

// sent notes where a record that is sent at an output will come.
func (s *simulation) sent(out *output[ticket], t Time) {
	for _, c := range out.ends {
		if then, ok := c.summary.ResultsIn(t); ok {
			n := 1
			if c.peers != nil && c.hash == nil {
				n = len(s.workers)
			}
			s.come(s.shape.input(c.to.node, c.to.port), then, n)
		}
	}
}

// run is the code of an operator.
func (o *simOperator) run() {
	s := o.at.sim
	flow := o.at.flow
	for i, in := range o.in {
		place := s.shape.input(o.op.id, i)
		for s.rng.IntN(8) > 0 {
			t, data, ok := in.Next()
			if !ok {
				break
			}
			if f := flow.tracker.places[place].reach.Frontier(); o.at.knows(place) && !f.LessEqual(t) {
				s.fail("a message comes to %s at %v, but worker %d has told it that only %v can come", s.shape.describe(place), t, o.at.Index(), f)
			}
			for _, r := range data {
				s.note("worker %d: %q takes record %d at %v", o.at.Index(), flow.shapes[o.op.id].name, r.id, t)
				s.come(place, t, -1)
				o.answer(i, t, r)
			}
		}
		if len(in.in.queue) > in.in.next {
			o.op.Activate() // for what it left, of which it may have taken nothing
		}
	}
	o.use()
}

// answer sends something for a record, and retains capabilities.
func (o *simOperator) answer(in int, t Time, r ticket) {
	s := o.at.sim
	for out, paths := range o.paths[in] {
		for _, path := range paths {
			then, ok := path.ResultsIn(t)
			if !ok {
				continue
			}
			if s.rng.IntN(4) > 0 {
				o.send(out, s.later(then, o.depth), r.fuel)
			}
			if s.rng.IntN(6) == 0 && !s.closing {
				o.hold(out, s.later(then, o.depth))
			}
		}
	}
}

// send sends up to two records, unless there is no fuel left.
func (o *simOperator) send(out int, t Time, fuel int) {
	s := o.at.sim
	for range s.rng.IntN(3) {
		if fuel == 0 || s.records == 0 {
			return
		}
		s.records--
		s.ids++
		s.note("worker %d: %q sends record %d at %v at output %d", o.at.Index(), o.at.flow.shapes[o.op.id].name, s.ids, t, out)
		s.sent(o.out[out].out, t)
		o.out[out].out.put(t, []ticket{{s.ids, fuel - 1}})
	}
}

func (o *simOperator) hold(out int, t Time) {
	o.owns = append(o.owns, simCapability{out, t})
	o.change(out, t, 1)
}

// change changes how many capabilities there are.
func (o *simOperator) change(out int, t Time, n int) {
	s := o.at.sim
	s.note("worker %d: %q holds %+d capability at %v at output %d", o.at.Index(), o.at.flow.shapes[o.op.id].name, n, t, out)
	o.out[out].out.hold(t, int64(n))
	s.come(s.shape.output(o.op.id, out), t, n)
}

// use does something with each capability. An operator that waits is run again
// when a frontier moves, others ask for it.
func (o *simOperator) use() {
	s := o.at.sim
	kept := o.owns[:0:0]
	for _, c := range o.owns {
		if o.waits {
			if slices.ContainsFunc(o.in, func(in *Reader[ticket]) bool { return in.Frontier().LessEqual(c.time) }) {
				kept = append(kept, c)
				continue
			}
			o.send(c.out, c.time, 3)
			o.change(c.out, c.time, -1)
			continue
		}
		if s.rng.IntN(2) == 0 {
			o.send(c.out, s.later(c.time, o.depth), 3)
		}
		switch i := s.rng.IntN(4); {
		case i == 0 || s.closing:
			o.change(c.out, c.time, -1)
		case i == 1:
			then := s.later(c.time, o.depth)
			o.change(c.out, then, 1)
			o.change(c.out, c.time, -1)
			kept = append(kept, simCapability{c.out, then})
		default:
			kept = append(kept, c)
		}
	}
	o.owns = kept
	if len(kept) > 0 && !o.waits {
		o.op.Activate()
	}
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

// damage is something wrong with the protocol.
type damage struct {
	name string
	// tear makes several messages of one, which should have been told as one.
	tear func(rng *rand.Rand, batch []pointChange) [][]pointChange
	// overtake has a message arrive before one that was sent before it.
	overtake bool
	// worker changes a worker that has built its dataflow.
	worker func(rng *rand.Rand, w *simWorker)
}

// only are the changes that keep says so of.
func only(batch []pointChange, keep func(pointChange) bool) []pointChange {
	return slices.DeleteFunc(slices.Clone(batch), func(c pointChange) bool { return !keep(c) })
}

// TestOracleHasTeeth damages the protocol in all ways in which a mistake could, and expects
// that the oracle finds it.
func TestOracleHasTeeth(t *testing.T) {
	for _, d := range []damage{
		{name: "consumption is told before production", tear: func(_ *rand.Rand, batch []pointChange) [][]pointChange {
			return [][]pointChange{
				only(batch, func(c pointChange) bool { return c.delta < 0 }),
				only(batch, func(c pointChange) bool { return c.delta > 0 }),
			}
		}},
		{name: "a batch is told in two parts", tear: func(rng *rand.Rand, batch []pointChange) [][]pointChange {
			n := rng.IntN(len(batch) + 1)
			return [][]pointChange{batch[:n], batch[n:]}
		}},
		{name: "batches overtake one another", overtake: true},
		{name: "a batch is told twice", tear: func(_ *rand.Rand, batch []pointChange) [][]pointChange {
			return [][]pointChange{batch, batch}
		}},
		{name: "one in ten batches is lost", tear: func(rng *rand.Rand, batch []pointChange) [][]pointChange {
			if rng.IntN(10) == 0 {
				return nil
			}
			return [][]pointChange{batch}
		}},
		{name: "one in ten productions is not told", tear: func(rng *rand.Rand, batch []pointChange) [][]pointChange {
			return [][]pointChange{only(batch, func(c pointChange) bool { return c.delta < 0 || rng.IntN(10) > 0 })}
		}},
		{name: "one in ten consumptions is not told", tear: func(rng *rand.Rand, batch []pointChange) [][]pointChange {
			return [][]pointChange{only(batch, func(c pointChange) bool { return c.delta > 0 || rng.IntN(10) > 0 })}
		}},
		{name: "productions are told to be an epoch later", tear: func(_ *rand.Rand, batch []pointChange) [][]pointChange {
			batch = slices.Clone(batch)
			for i := range batch {
				if batch[i].delta > 0 {
					batch[i].time[0]++
				}
			}
			return [][]pointChange{batch}
		}},
		{name: "a worker does not know of a path", worker: func(rng *rand.Rand, w *simWorker) {
			steps := w.flow.tracker.steps
			at := rng.IntN(len(steps))
			steps[at] = nil
			w.flow.tracker.shorten()
		}},
		{name: "a worker believes paths to be longer", worker: func(rng *rand.Rand, w *simWorker) {
			for _, list := range w.flow.tracker.steps {
				for i := range list {
					if rng.IntN(4) == 0 {
						list[i].summary.Add[0]++
					}
				}
			}
			w.flow.tracker.shorten()
		}},
		{name: "an operator forgets to tell what it took", worker: func(rng *rand.Rand, w *simWorker) {
			n := w.flow.nodes[rng.IntN(len(w.flow.nodes))]
			n.inputs = nil
		}},
	} {
		const enough, seeds = 3, 400
		found, tried, first := 0, uint64(0), ""
		for ; tried < seeds && found < enough; tried++ {
			if wrong, _ := simulate(t, tried, d); wrong != "" {
				found++
				first = cmp.Or(first, fmt.Sprintf("seed %d: %s", tried, wrong))
			}
		}
		t.Logf("%s: found by %d of %d seeds; %.300s", d.name, found, tried, first)
		if found < enough {
			t.Errorf("%s: only %d of %d seeds find it", d.name, found, tried)
		}
	}
}
