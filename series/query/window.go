package query

import (
	"context"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
)

// Times in the direction of reading are keys: time^mask, which ascend also where times descend.

// laneBytes is about what merging holds of a lane beside its rows.
const laneBytes = 40

// merge emits the rows of some lanes by time. It takes the range in windows that hold as many rows as there is memory
// for: reads all lanes in a window, some at a time, merges, and goes on, so that no lane has to stay open and memory does
// not depend on the number of points. A window that turns out too full is cut while it is read.
func (r *run) merge(e *emitter, a, b, workers int) error {
	p := r.p
	mask, step := int64(0), uint64(1)
	if p.q.Backward {
		mask = -1
	}
	if p.q.Kind == GroupAggregate || p.q.Kind == GroupAggregateJoin {
		step = uint64(p.q.Step)
	}
	first, last := p.q.From^mask, p.q.To^mask
	if mask != 0 {
		first, last = last, first
	}
	if first > last {
		return nil
	}
	if err := r.memory.take(laneBytes * (b - a)); err != nil {
		return err
	}
	defer r.memory.give(int64(laneBytes * (b - a)))
	budget := r.budget(b-a, r.workers/workers)

	// One goroutine reads windows, this one merges the window before; the slices go back and forth.
	ctx, cancel := context.WithCancel(e.ctx)
	windows, merged := make(chan *window), make(chan *window, 2)
	var failed error
	go func() {
		defer close(windows)
		width := ^uint64(0)
		for {
			end := last
			if uint64(last)-uint64(first) > width {
				end = first + int64(width)
			}
			w := &window{run: r, lane: a, mask: mask, step: step, budget: budget}
			select {
			case w = <-merged:
			default:
			}
			w.first = first
			if failed = w.read(ctx, a, b, end, workers); failed != nil {
				w.free()
				return
			}
			end, width = w.last.Load(), w.nextWidth()
			select {
			case windows <- w:
			case <-ctx.Done():
				failed = context.Cause(ctx)
				w.free()
				return
			}
			if end == last {
				return
			}
			first = end + 1
		}
	}()
	var err error
	var order sorter
	for w := range windows {
		if err == nil {
			if err = w.merge(e, &order); err != nil {
				cancel()
			}
		}
		w.free()
		merged <- w
	}
	cancel()
	if err == nil {
		err = failed
	}
	return err
}

// budget is how many bytes of rows a window of some lanes holds, where there are so many merges at once: two windows
// are held at a time, in slices that are longer than what they hold, and beside what sorts them. There is room for a
// row of a lane in four at least, and for few more rows than a limit leaves of the answer.
func (r *run) budget(lanes, merges int) int64 {
	rows := uint64(r.sizes.window)
	if rows == 0 {
		free := max(r.free/int64(merges)-int64(laneBytes*lanes), 0)
		rows = min(uint64(free)/8/uint64(r.rowBytes), 1<<30)
	}
	if q := r.p.q; q.Limit > 0 && len(q.Apply) == 0 && q.Limit < rows && q.Offset < rows {
		rows = min(rows, max(q.Limit+q.Offset, 1024))
	}
	return int64(max(rows, uint64(lanes/4), 1)) * int64(r.rowBytes)
}

// window is the rows of some lanes within keys.
type window struct {
	run    *run
	lane   int   // the first
	first  int64 // key
	end    int64 // key of the last that was asked for
	last   atomic.Int64
	mask   int64
	step   uint64
	budget int64 // bytes
	bytes  atomic.Int64
	parts  []part // in the order of lanes

	reads sync.RWMutex // held for reading while a lane is read, for writing to cut what was read
	done  atomic.Int64 // lanes that were read
	lanes int
}

// part is the rows of some lanes, one behind the other.
type part struct {
	columns
	lanes []uint32
	ends  []uint32 // of each of lanes
}

// lower cuts the window off behind a key.
func (w *window) lower(last int64) {
	for {
		now := w.last.Load()
		if last >= now || w.last.CompareAndSwap(now, last) {
			return
		}
	}
}

// goal is how full a window should be: less than it may, so that it is seldom cut.
func (w *window) goal() float64 { return float64(w.budget) * 7 / 8 }

// shrink cuts a window that is too full, at the begin of a step, to what it will hold when all lanes are read if the
// others are like those that were, which they need not be: it is done again where that is not enough.
func (w *window) shrink() {
	if uint64(w.last.Load())-uint64(w.first) < w.step {
		return // a step is the least
	}
	w.reads.Lock()
	defer w.reads.Unlock()
	if w.trim(); w.bytes.Load() <= w.budget || uint64(w.last.Load())-uint64(w.first) < w.step {
		return // another goroutine was faster
	}
	rows := 0
	for i := range w.parts {
		rows += w.parts[i].len()
	}
	var sample []int64
	stride := max(rows/4096, 1)
	for i := range w.parts {
		for at := 0; at < w.parts[i].len(); at += stride {
			sample = append(sample, w.parts[i].times[at]^w.mask)
		}
	}
	slices.Sort(sample)
	keep := max(w.goal()*float64(w.done.Load())/float64(w.lanes)/float64(w.bytes.Load()), 1./4)
	cut := sample[int(keep*float64(len(sample)))]
	steps := max((uint64(cut)-uint64(w.first))/w.step, 1)
	w.lower(w.first + int64(steps*w.step-1))
	w.trim()
}

// nextWidth is how many keys, but one, the next window should have, if its rows come as those of this one: all that are
// left if this one turned out rather empty, as the last one does.
func (w *window) nextWidth() uint64 {
	bytes := float64(w.bytes.Load())
	if w.last.Load() == w.end && bytes < w.goal()/2 {
		return ^uint64(0)
	}
	begin := w.last.Load()
	for i := range w.parts {
		p := &w.parts[i]
		from := uint32(0)
		for _, end := range p.ends {
			if end > from {
				begin = min(begin, p.times[from]^w.mask)
			}
			from = end
		}
	}
	width := (float64(uint64(w.last.Load())-uint64(begin)) + 1) * min(w.goal()/max(bytes, 1), 64)
	if width >= 1<<63 {
		return ^uint64(0)
	}
	return max(uint64(width)/w.step, 1)*w.step - 1
}

// free gives the memory of the window back.
func (w *window) free() {
	w.run.memory.give(w.bytes.Swap(0))
	for i := range w.parts {
		p := &w.parts[i]
		p.cut(0)
		p.lanes, p.ends = p.lanes[:0], p.ends[:0]
	}
}

func (w *window) read(ctx context.Context, a, b int, last int64, workers int) error {
	w.end = last
	w.last.Store(last)
	w.done.Store(0)
	w.lanes = b - a
	per := max((b-a+4*workers-1)/(4*workers), 1)
	if w.parts == nil {
		w.parts = make([]part, (b-a+per-1)/per)
	}
	workers = min(workers, len(w.parts))
	var next atomic.Int64
	var group sync.WaitGroup
	errs := make([]error, workers)
	work := func(i int) {
		for {
			n := int(next.Add(1)) - 1
			if n >= len(w.parts) {
				return
			}
			for lane := a + n*per; lane < min(a+(n+1)*per, b); lane++ {
				w.reads.RLock()
				errs[i] = w.readLane(ctx, &w.parts[n], lane)
				w.reads.RUnlock()
				if errs[i] != nil {
					next.Add(int64(len(w.parts)))
					return
				}
				w.done.Add(1)
				if w.bytes.Load() > w.budget {
					w.shrink()
				}
			}
		}
	}
	for i := 1; i < workers; i++ {
		group.Go(func() { work(i) })
	}
	work(0)
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	w.trim()
	return nil
}

func (w *window) readLane(ctx context.Context, p *part, lane int) error {
	last := w.last.Load()
	from, to := w.first^w.mask, last^w.mask
	if w.mask != 0 {
		from, to = to, from
	}
	cur, err := w.run.p.open(ctx, lane, from, to)
	if err != nil {
		return err
	}
	defer cur.close()
	p.width = w.run.width
	begin, size, held := p.len(), min(64, w.run.sizes.batch), int64(0)
	for more := true; more; {
		n := p.len()
		if more, err = cur.next(&p.columns, size); err != nil {
			return err
		}
		size = min(2*size, w.run.sizes.batch)
		bytes := w.size(p, n, p.len())
		if err := w.run.memory.take(int(bytes)); err != nil {
			return err
		}
		w.bytes.Add(bytes)
		if held += bytes; held > w.budget {
			// This lane alone fills the window. Rows of the last key may still come: they are for the next one.
			if key := p.times[p.len()-1] ^ w.mask; key > w.first {
				w.lower(key - 1)
				break
			}
		}
	}
	if p.len() > begin {
		p.lanes, p.ends = append(p.lanes, uint32(lane)), append(p.ends, uint32(p.len()))
	}
	return nil
}

// size is how many bytes some rows of a part take.
func (w *window) size(p *part, from, to int) int64 {
	bytes := int64((to - from) * w.run.rowBytes)
	if len(p.texts) > 0 {
		for _, text := range p.texts[from:to] {
			bytes += int64(len(text))
		}
	}
	return bytes
}

// trim drops rows behind the window's end.
func (w *window) trim() {
	last := w.last.Load()
	for i := range w.parts {
		p := &w.parts[i]
		from, to, dropped := 0, 0, int64(0)
		for i, end := range p.ends {
			end := int(end)
			kept := sort.Search(end-from, func(i int) bool { return p.times[from+i]^w.mask > last })
			dropped += w.size(p, from+kept, end)
			p.move(to, from, kept)
			to += kept
			from, p.ends[i] = end, uint32(to)
		}
		w.bytes.Add(-dropped)
		w.run.memory.give(dropped)
		p.columns.cut(to)
	}
}

// strand is where the rows of a lane are.
type strand struct {
	part  *part
	label uint32
}

// merge emits the rows by key; of rows with one key, those of the first lane come first, of the last one if backward.
func (w *window) merge(e *emitter, order *sorter) error {
	r := w.run
	rows := 0
	for i := range w.parts {
		rows += w.parts[i].len()
	}
	if err := r.memory.take(2 * entryBytes * rows); err != nil {
		return err
	}
	defer r.memory.give(int64(2 * entryBytes * rows))
	if cap(order.entries) < rows {
		order.entries = make([]entry, 0, rows)
	}
	order.entries = order.entries[:0]
	var strands []strand
	add := func(p *part, i int) {
		// A series whose name is gone was deleted meanwhile.
		label := int(r.p.label[p.lanes[i]])
		if r.name(label) == "" {
			return
		}
		begin := uint32(0)
		if i > 0 {
			begin = p.ends[i-1]
		}
		for row := begin; row < p.ends[i]; row++ {
			order.entries = append(order.entries, entry{p.times[row] ^ w.mask, uint32(len(strands)), row})
		}
		strands = append(strands, strand{p, uint32(label) - r.base(w.lane)})
	}
	if w.mask == 0 {
		for i := range w.parts {
			for k := range w.parts[i].lanes {
				add(&w.parts[i], k)
			}
		}
	} else {
		for i := len(w.parts) - 1; i >= 0; i-- {
			for k := len(w.parts[i].lanes) - 1; k >= 0; k-- {
				add(&w.parts[i], k)
			}
		}
	}
	out := r.batch(w.lane)
	err := order.sort(func(sorted []entry) error {
		for len(sorted) > 0 {
			n := min(len(sorted), r.sizes.batch-out.Len())
			w.take(out, sorted[:n], strands)
			if sorted = sorted[n:]; out.Len() == r.sizes.batch {
				if err := e.emit(out); err != nil {
					return err
				}
				out = r.batch(w.lane)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return e.emit(out)
}

// take appends rows to a batch.
func (w *window) take(out *Batch, sorted []entry, strands []strand) {
	n := out.Len()
	out.Series, out.Times = grow(out.Series, len(sorted)), grow(out.Times, len(sorted))
	series, times := out.Series[n:], out.Times[n:]
	for i, x := range sorted {
		series[i], times[i] = strands[x.strand].label, x.key^w.mask
	}
	width := w.run.width
	out.Values = grow(out.Values, len(sorted)*width)
	values := out.Values[n*width:]
	if width == 1 {
		for i, x := range sorted {
			values[i] = strands[x.strand].part.values[x.row]
		}
	} else if width > 0 {
		for i, x := range sorted {
			copy(values[i*width:(i+1)*width], strands[x.strand].part.values[int(x.row)*width:])
		}
	}
	for _, x := range sorted {
		p := strands[x.strand].part
		if len(p.missing) > 0 {
			out.Missing = append(out.Missing, p.missing[x.row])
		}
		if len(p.texts) > 0 {
			out.Texts = append(out.Texts, p.texts[x.row])
		}
	}
}
