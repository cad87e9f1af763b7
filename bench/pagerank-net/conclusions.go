package main

import (
	"fmt"
	"strings"

	"weir/internal/table"
)

// conclusion is something that was published, and what was measured of it here.
type conclusion struct {
	claim string
	says  string // what was published
	holds []finding
	note  string // why it may be otherwise here; may be empty
}

// finding is a ratio that is above 1 where the claim holds.
type finding struct {
	where string
	ratio float64
}

// margin is how far from 1 a ratio must be to say anything.
const margin = 1.05

// verdict says where the claim holds.
func (c conclusion) verdict() string {
	var yes, no, even []string
	for _, f := range c.holds {
		text := fmt.Sprintf("%s (%s×)", f.where, table.ThreeDigits(f.ratio))
		switch {
		case f.ratio > margin:
			yes = append(yes, text)
		case f.ratio < 1/margin:
			no = append(no, text)
		default:
			even = append(even, text)
		}
	}
	short := "**Holds in part.**"
	switch {
	case len(no)+len(even) == 0:
		short = "**Holds.**"
	case len(yes) == 0 && len(no) == 0:
		short = "**Makes no difference.**"
	case len(yes) == 0:
		short = "**Does not hold.**"
	}
	var parts []string
	for _, p := range []struct {
		says string
		list []string
	}{{"yes: ", yes}, {"no: ", no}, {"no difference: ", even}} {
		if len(p.list) > 0 {
			parts = append(parts, p.says+strings.Join(p.list, ", "))
		}
	}
	return short + " " + strings.Join(parts, "; ") + "."
}

// each makes a finding of every number of hosts on every graph.
func (b *bench) each(hosts []int, ratio func(g *subject, n int) float64) []finding {
	var all []finding
	for _, g := range b.subjects {
		for _, n := range hosts {
			all = append(all, finding{fmt.Sprintf("%s, %s", g.name, b.shape(n)), ratio(g, n)})
		}
	}
	return all
}

// shape is how a row is called: hosts × workers.
func (b *bench) shape(n int) string { return fmt.Sprintf("%d×%d", n, b.opt.workers) }

// iteration is what an iteration takes in a cell, in seconds.
func (g *subject) iteration(variant string, hosts int) float64 {
	return g.cells[cell{variant, hosts}].iteration()
}

// sent is what a process sends in an iteration.
func (g *subject) sent(aggregate string, hosts int) sending {
	for _, s := range g.sends {
		if s.aggregate == aggregate && s.hosts == hosts {
			return s
		}
	}
	return sending{}
}

// wireSeconds is how long a process's bytes of an iteration take on the link, as fast as that was
// measured.
func (b *bench) wireSeconds(g *subject, aggregate string, hosts int, l link) float64 {
	return 8 * g.sent(aggregate, hosts).wire / b.measured[l.name]
}

// conclusions compares what was published with what was measured.
func (b *bench) conclusions() []conclusion {
	several, most := b.opt.hosts[1:], b.opt.hosts[len(b.opt.hosts)-1:]
	shared := fmt.Sprintf("All hosts share the %d cores of this machine, so that more of them add links but no processors.", b.machine.Cores)
	return []conclusion{
		{
			"A faster network makes PageRank faster", "10G takes an iteration 1.5 to 3 times as fast as 1G with the best way to use that, 1G+",
			b.each(several, func(g *subject, n int) float64 { return g.iteration("1G+", n) / g.iteration("10G", n) }), "",
		},
		{
			"At 1G, communication bounds an iteration", "it dominates; the ratio is of the time that the bytes take on the link to half of the iteration",
			b.each(several, func(g *subject, n int) float64 {
				return 2 * b.wireSeconds(g, "worker", n, slow) / g.iteration("1G", n)
			}), "",
		},
		{
			"At 10G, the processors bound it", "timely dataflow becomes bound by them; the ratio is of half of the iteration to the time that the bytes take on the link",
			b.each(several, func(g *subject, n int) float64 {
				return g.iteration("10G", n) / 2 / b.wireSeconds(g, "worker", n, fast)
			}), "",
		},
		{
			"At 1G, sums by worker only make several hosts slower than one", "2 to 16 hosts take an iteration 1.3 to 3.1 times as long as one",
			b.each(several, func(g *subject, n int) float64 { return g.iteration("1G", n) / g.iteration("1G", 1) }), shared,
		},
		{
			"At 1G, sums by process pay", "1G+ takes an iteration 1.3 to 4.8 times as fast as 1G",
			b.each(several, func(g *subject, n int) float64 { return g.iteration("1G", n) / g.iteration("1G+", n) }), "",
		},
		{
			"At 10G they do not", "sums by worker are 10 to 20 % faster, though they send more",
			b.each(several, func(g *subject, n int) float64 { return g.iteration("10G+", n) / g.iteration("10G", n) }),
			"Here the sums of a process leave range by range, while others are computed, where the published program waited for all.",
		},
		{
			"More hosts make it faster, at 10G", "2 to 16 hosts take an iteration 1.4 to 4.9 times as fast as one",
			b.each(several, func(g *subject, n int) float64 { return g.iteration("10G", 1) / g.iteration("10G", n) }), shared,
		},
		{
			"No program could be as fast at 1G as this one is at 10G", "what must be sent takes 0.85 to 2.4 times as long at 1G as an iteration does at 10G",
			b.each(several, func(g *subject, n int) float64 {
				return g.sent("process", n).mostBits / slow.bits / g.iteration("10G", n)
			}), shared + " The published iterations were computed by 16 to 128 cores.",
		},
		{
			"Sums by process send the least, and none the most", "15 GB an iteration without sums, 3 GB with sums by worker, on 16 hosts; the ratio is of worker to process, or of none to worker where that is less",
			b.each(most, func(g *subject, n int) float64 {
				return min(g.sent("none", n).updates/g.sent("worker", n).updates, g.sent("worker", n).updates/g.sent("process", n).updates)
			}), "",
		},
	}
}
