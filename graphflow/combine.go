package graphflow

import (
	"math/bits"

	"weir/timely"
)

// combiner adds up, before they leave the process, what its workers have for the same
// vertices elsewhere. It is an operator: the workers of the process divide the workers elsewhere among
// themselves, and each gets from all a block for each range of vertices; it knows without
// asking anybody when a range is complete, and sends it on while others are being computed.
type combiner struct {
	layout
	op  *timely.Operator
	in  *timely.Reader[block]
	out *timely.Writer[block]

	ready  *timely.Capability // held while some range is incomplete
	groups map[[2]uint32][][]update
	left   int // ranges incomplete
	ranges int // in all
	pool   *pool
	sent   *traffic

	acc  [partSize]float32
	mark [partSize / 64]uint64
}

// via is the worker of this process that combines what goes to a worker elsewhere.
func (l layout) via(to uint32) uint64 {
	return uint64(l.process*l.threads) + uint64(to)%uint64(l.threads)
}

// combine adds the operator.
func combine(s timely.Stream[block], l layout, p *pool, sent *traffic) timely.Stream[block] {
	c := &combiner{layout: l, pool: p, sent: sent, groups: map[[2]uint32][][]update{}}
	for to := range l.workers {
		if !l.near(uint32(to)) && l.via(uint32(to)) == uint64(l.me) {
			c.ranges += (owned(l.vertices, l.workers, to) + partSize - 1) / partSize
		}
	}
	c.op = timely.NewOperator(s.Scope(), "combine")
	c.in = c.op.Input(s, timely.ByHash(func(b block) uint64 { return l.via(b.to) }))
	out, stream := c.op.Output[block]()
	c.out = out
	c.op.Build(c.run)
	return stream
}

func (c *combiner) run() {
	for t, blocks, ok := c.in.Next(); ok; t, blocks, ok = c.in.Next() {
		if c.ready == nil {
			c.ready, c.left = c.op.Retain(t), c.ranges
		}
		buf := c.out.Buffer(t)
		for _, b := range blocks {
			key := [2]uint32{b.to, b.part}
			group := append(c.groups[key], b.updates)
			c.groups[key] = group
			if len(group) < c.threads {
				continue
			}
			if merged := c.merge(b.part, group); len(merged) > 0 {
				c.sent.add(b.to, len(merged))
				buf = append(buf, block{b.to, b.part, merged})
			}
			clear(group)
			c.groups[key] = group[:0]
			c.left--
		}
		c.out.Put(buf)
		if c.left == 0 {
			c.ready.Drop()
			c.ready = nil
		}
	}
}

// merge adds up blocks of one range.
func (c *combiner) merge(part uint32, group [][]update) []update {
	base := part * partSize
	most := 0 // updates that there can be
	for _, updates := range group {
		most += len(updates)
		for _, u := range updates {
			i := (u.local - base) % partSize
			c.acc[i] += u.value
			c.mark[i/64] |= 1 << (i % 64)
		}
		c.pool.put(updates)
	}
	out := c.pool.take(most, true)
	for w, word := range c.mark {
		for ; word != 0; word &= word - 1 {
			i := uint32(w*64+bits.TrailingZeros64(word)) % partSize
			out = append(out, update{base + i, c.acc[i]})
			c.acc[i] = 0
		}
		c.mark[w] = 0
	}
	return out
}
