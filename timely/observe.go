package timely

// This file spares progress the places that nobody looks at. In a long chain of
// operators that only hand records on, a change at its start need not be carried
// from one to the next, but only to its end, if somebody asks there what may still
// come: a probe, or an operator that is to be notified.

// observe says whose frontiers are kept. It is called before the first change; without it all are.
// Those of other places are not known, except that to ask for one has it kept from then on.
func (t *tracker) observe(seen func(at int32) bool) {
	t.seen = make([]bool, len(t.places))
	for at := range t.seen {
		t.seen[at] = seen(int32(at))
	}
	t.shorten()
}

// shorten finds the jumps: from each place to the next on each way that is observed or from
// which ways part, with the summary of the way there. Every jump is made of
// steps, so that it leads forward in the order of changes as they do.
func (t *tracker) shorten() {
	leads := t.leadsToSeen()
	ends := make([]ending, len(t.steps))
	t.jumps = make([][]step, len(t.steps))
	for at, steps := range t.steps {
		for _, s := range steps {
			if !leads[s.to] {
				continue
			}
			e := t.follow(s.to, leads, ends)
			if summary, ok := s.summary.FollowedBy(e.way.summary); ok && e.comes {
				t.jumps[at] = append(t.jumps[at], step{e.way.to, summary})
			}
		}
	}
	t.relays = make([]bool, len(t.places))
	for at, seen := range t.seen {
		t.relays[at] = !seen
	}
	for _, jumps := range t.jumps {
		for _, s := range jumps {
			t.relays[s.to] = false
		}
	}
}

// ending is where the way from a place leads for as long as there is only one.
type ending struct {
	known bool
	way   step
	comes bool // anything does; times may grow too large on the way
}

// follow finds the ending of a place that leads to an observed one, and of all on the way.
func (t *tracker) follow(at int32, leads []bool, ends []ending) ending {
	var passed []int32
	for p := at; !ends[p].known; {
		only := t.only(p, leads)
		if t.seen[p] || only == nil {
			ends[p] = ending{true, step{p, Identity()}, true}
			break
		}
		passed = append(passed, p)
		p = only.to
	}
	for i := len(passed) - 1; i >= 0; i-- {
		p := passed[i]
		only := t.only(p, leads)
		end := ends[only.to]
		summary, ok := only.summary.FollowedBy(end.way.summary)
		ends[p] = ending{true, step{end.way.to, summary}, ok && end.comes}
	}
	return ends[at]
}

// only is the single step from a place that leads to an observed one, or nil if
// there are several.
func (t *tracker) only(at int32, leads []bool) *step {
	var only *step
	for i, s := range t.steps[at] {
		if leads[s.to] {
			if only != nil {
				return nil
			}
			only = &t.steps[at][i]
		}
	}
	return only
}

// leadsToSeen says which places are observed, or have a way to one that is.
func (t *tracker) leadsToSeen() []bool {
	from := make([][]int32, len(t.steps))
	for at, steps := range t.steps {
		for _, s := range steps {
			from[s.to] = append(from[s.to], int32(at))
		}
	}
	leads := make([]bool, len(t.steps))
	var todo []int32
	for at, seen := range t.seen {
		if seen {
			leads[at] = true
			todo = append(todo, int32(at))
		}
	}
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, p := range from[at] {
			if !leads[p] {
				leads[p] = true
				todo = append(todo, p)
			}
		}
	}
	return leads
}

// observeAlso keeps one more frontier, which takes as long as to carry everything along again.
func (t *tracker) observeAlso(at int32) {
	t.propagate() // what is on its way, so that those who watch a frontier that it moves are told
	t.seen[at] = true
	t.shorten()
	for i := range t.places {
		t.places[i].reach = MutableAntichain{}
	}
	for i := range t.places {
		t.scratch = t.scratch[:0]
		for _, time := range t.places[i].points.frontier {
			t.scratch = append(t.scratch, Change{time, 1})
		}
		t.enter(int32(i))
	}
	t.propagate()
}
