package timely

import (
	"fmt"
	"slices"
	"strings"
)

// Explain says what keeps the dataflow from being done, as far as this worker knows:
// which operators hold capabilities, which inputs have messages, of how many at each time, and how
// many of the capabilities are held here. It is for people; the text may change.
func (d *Dataflow) Explain() string {
	return d.explain(fmt.Sprintf("dataflow %q", d.name), func(int32) bool { return true })
}

// Explain says where each stream of the probe has come to, and what may still lead to records there: see
// [Dataflow.Explain].
func (p *Probe) Explain() string {
	var b strings.Builder
	for _, at := range p.at {
		if !at.flow.built || at.flow.finished {
			fmt.Fprint(&b, at.flow.explain(fmt.Sprintf("probe %d of dataflow %q", at.node, at.flow.name), nil))
			continue
		}
		target := at.flow.tracker.input(at.node, 0)
		leads := at.flow.leadsTo(target)
		b.WriteString(at.flow.explain(fmt.Sprintf("probe %d of dataflow %q: frontier %v", at.node, at.flow.name, at.flow.tracker.frontier(target)),
			func(at int32) bool { return leads[at] }))
	}
	return b.String()
}

// leadsTo says of which places a path leads to a place.
func (d *Dataflow) leadsTo(target int32) []bool {
	leads := make([]bool, len(d.tracker.steps))
	leads[target] = true
	for more := true; more; {
		more = false
		for at, steps := range d.tracker.steps {
			if !leads[at] && slices.ContainsFunc(steps, func(s step) bool { return leads[s.to] }) {
				leads[at], more = true, true
			}
		}
	}
	return leads
}

// explain lists what there is at places.
func (d *Dataflow) explain(title string, include func(at int32) bool) string {
	switch {
	case !d.built:
		return title + ": is not built yet\n"
	case d.dropped:
		return title + ": was dropped\n"
	case d.finished:
		return title + ": is done\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s, seen from worker %d of %d\n", title, d.worker.Index(), d.worker.Peers())
	nothing := true
	for _, n := range d.nodes {
		for port := range n.inputs {
			at := d.tracker.input(n.id, port)
			for _, c := range d.tracker.places[at].points.counts {
				if include(at) {
					fmt.Fprintf(&b, "\t%s at %v wait at input %d of operator %d, %q\n", plural(c.Delta, "batch", "batches"), c.Time, port, n.id, d.shapes[n.id].name)
					nothing = false
				}
			}
		}
		for port, out := range n.output {
			at := d.tracker.output(n.id, port)
			for _, c := range d.tracker.places[at].points.counts {
				if include(at) {
					here := int64(0)
					for _, held := range out.held {
						if held.Time == c.Time {
							here = held.Delta
						}
					}
					fmt.Fprintf(&b, "\t%s at %v held by operator %d, %q, for its output %d (%d here)\n",
						plural(c.Delta, "capability", "capabilities"), c.Time, n.id, d.shapes[n.id].name, port, here)
					nothing = false
				}
			}
		}
	}
	if nothing {
		b.WriteString("\tnothing is held, and nothing is on its way\n")
	}
	return b.String()
}

func plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
