package algo

import (
	"context"
	"math/bits"
	"sync/atomic"

	"weir/internal/par"
)

const (
	// bfsParallel is the number of frontier vertices from which a level is worth
	// more than one goroutine: starting them costs some microseconds.
	bfsParallel = 1 << 11
	// bfsGrain is the number of frontier vertices a goroutine takes at a time. A
	// vertex may have many edges.
	bfsGrain = 1 << 6
	// bfsWords is the number of words of the bitmap a goroutine takes at a time.
	bfsWords = 1 << 8
	// bfsBuffer is the number of vertices a goroutine collects before it reserves
	// their place in the queue.
	bfsBuffer = 1 << 10
	// bfsCheck is the number of frontier vertices between two looks at whether
	// the search is cancelled.
	bfsCheck = 1 << 12
)

// bfsWorker is what one goroutine counts and collects; padded so that two do
// not share a cache line.
type bfsWorker struct {
	buffer   []uint32
	scout    uint64
	examined uint64
	awake    int
	_        [64]byte
}

// topDown looks at all edges out of queue[lo:hi], puts the vertices it finds
// behind hi, and returns the end of these and the number of edges out of them.
func (b *bfs) topDown(ctx context.Context, lo, hi int) (tail int, scout uint64, err error) {
	if b.threads > 1 && hi-lo >= bfsParallel {
		return b.topDownAll(ctx, lo, hi)
	}
	tail = hi
	for lo < hi {
		if err := ctx.Err(); err != nil {
			return tail, 0, err
		}
		end := min(lo+bfsCheck, hi)
		var edges, examined uint64
		tail, edges, examined = b.topDownOne(lo, end, tail)
		scout += edges
		b.examined += int64(examined)
		lo = end
	}
	return tail, scout, nil
}

// topDownOne is a part of a step on one goroutine.
func (b *bfs) topDownOne(lo, hi, tail int) (newTail int, scout, examined uint64) {
	offsets, targets := b.out.Offsets, b.out.Targets
	visited, depth, parent, queue, level := b.visited, b.depth, b.parent, b.queue, b.level
	for _, u := range queue[lo:hi] {
		row := targets[offsets[u]:offsets[u+1]]
		examined += uint64(len(row))
		for _, v := range row {
			word, bit := visited[v>>6], uint64(1)<<(v&63)
			if word&bit != 0 {
				continue
			}
			visited[v>>6] = word | bit
			if depth != nil {
				depth[v] = level
			}
			if parent != nil {
				parent[v] = u
			}
			queue[tail] = v
			tail++
			scout += offsets[v+1] - offsets[v]
		}
	}
	return tail, scout, examined
}

// topDownAll is a step on all goroutines. Whoever sets the bit of a vertex owns
// its depth and parent.
func (b *bfs) topDownAll(ctx context.Context, lo, hi int) (tail int, scout uint64, err error) {
	var end atomic.Int64
	end.Store(int64(hi))
	for i := range b.workers {
		w := &b.workers[i]
		w.scout, w.examined = 0, 0
		if w.buffer == nil {
			w.buffer = make([]uint32, 0, bfsBuffer)
		}
	}
	frontier := b.queue[lo:hi]
	err = par.Range(ctx, b.threads, len(frontier), bfsGrain, func(worker, lo, hi int) {
		b.topDownPiece(&b.workers[worker], frontier[lo:hi], &end)
	})
	for i := range b.workers {
		w := &b.workers[i]
		b.flush(w.buffer, &end)
		w.buffer = w.buffer[:0]
		scout += w.scout
		b.examined += int64(w.examined)
	}
	return int(end.Load()), scout, err
}

func (b *bfs) topDownPiece(w *bfsWorker, frontier []uint32, end *atomic.Int64) {
	offsets, targets := b.out.Offsets, b.out.Targets
	visited, depth, parent, level := b.visited, b.depth, b.parent, b.level
	buffer := w.buffer
	var scout, examined uint64
	for _, u := range frontier {
		row := targets[offsets[u]:offsets[u+1]]
		examined += uint64(len(row))
		for _, v := range row {
			word, bit := &visited[v>>6], uint64(1)<<(v&63)
			// Most edges lead to a visited vertex: look before paying for a locked write.
			if atomic.LoadUint64(word)&bit != 0 || atomic.OrUint64(word, bit)&bit != 0 {
				continue
			}
			if depth != nil {
				depth[v] = level
			}
			if parent != nil {
				parent[v] = u
			}
			if len(buffer) == cap(buffer) {
				b.flush(buffer, end)
				buffer = buffer[:0]
			}
			buffer = append(buffer, v)
			scout += offsets[v+1] - offsets[v]
		}
	}
	w.buffer = buffer
	w.scout += scout
	w.examined += examined
}

// flush appends a goroutine's vertices to the queue.
func (b *bfs) flush(buffer []uint32, end *atomic.Int64) {
	at := int(end.Add(int64(len(buffer)))) - len(buffer)
	copy(b.queue[at:], buffer)
}

// bottomUp lets every unvisited vertex look for a parent in front, collects in
// next those that found one, and returns their number.
func (b *bfs) bottomUp(ctx context.Context) (awake int, err error) {
	for i := range b.workers {
		w := &b.workers[i]
		w.awake, w.examined = 0, 0
	}
	err = par.Range(ctx, b.threads, len(b.visited), bfsWords, func(worker, lo, hi int) {
		b.bottomUpPiece(&b.workers[worker], lo, hi)
	})
	for i := range b.workers {
		awake += b.workers[i].awake
		b.examined += int64(b.workers[i].examined)
	}
	return awake, err
}

// bottomUpPiece works on the vertices of words lo to hi of the bitmaps, which
// belong to it alone.
//
// The first in-neighbours of a word's vertices are looked at together and
// without branches, so that the processor waits for many rows at the same time;
// in the steps that matter most vertices need no other.
func (b *bfs) bottomUpPiece(w *bfsWorker, lo, hi int) {
	offsets, targets := b.in.Offsets, b.in.Targets
	front, depth, parent, level := b.front, b.depth, b.parent, b.level
	var awake int
	var examined uint64
	var vertices, firsts [64]uint32
	var starts [64]uint64
	for i := lo; i < hi; i++ {
		n := 0
		visited := b.visited[i]
		left := ^visited
		for bit := left; bit != 0; bit &= bit - 1 {
			u := uint32(i<<6 + bits.TrailingZeros64(bit))
			start, end := offsets[u], offsets[u+1]
			vertices[n&63], starts[n&63] = u, start
			filled := (start - end) >> 63 // 1 unless the row is empty
			visited |= (filled ^ 1) << (u & 63)
			n += int(filled)
		}
		for k, start := range starts[:n] {
			firsts[k] = targets[start]
		}
		var found uint64
		for k, v := range firsts[:n] {
			hit := front[v>>6] >> (v & 63) & 1
			found |= hit << (vertices[k] & 63)
		}
		examined += uint64(n)
		if parent != nil {
			for k, u := range vertices[:n] {
				if found>>(u&63)&1 != 0 {
					parent[u] = firsts[k]
				}
			}
		}
		for k, u := range vertices[:n] {
			if found>>(u&63)&1 != 0 {
				continue
			}
			row := targets[starts[k]+1 : offsets[u+1]]
			seen := len(row)
			for j, v := range row {
				if front[v>>6]>>(v&63)&1 != 0 {
					found |= 1 << (u & 63)
					if parent != nil {
						parent[u] = v
					}
					seen = j + 1
					break
				}
			}
			examined += uint64(seen)
		}
		if depth != nil {
			for bit := found; bit != 0; bit &= bit - 1 {
				depth[i<<6+bits.TrailingZeros64(bit)] = level
			}
		}
		b.visited[i] = visited | found
		b.next[i] = found
		awake += bits.OnesCount64(found)
	}
	w.awake += awake
	w.examined += examined
}
