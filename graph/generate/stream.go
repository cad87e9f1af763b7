package generate

import (
	"context"
	"sync"
	"sync/atomic"

	"weir/internal/par"
	"weir/internal/progress"
)

// chunkEdges is the number of edges handed out at once: half a megabyte, which
// stays in the second-level cache between who makes it and who takes it.
const chunkEdges = 1 << 16

// chunker makes chunk i of a graph.
type chunker struct {
	maker   maker
	edges   int64
	weights Weights
	key     uint64
}

// chunk is a buffer for one chunk.
type chunk struct {
	edges   []uint64
	weights []float32
}

func (c *chunker) newChunk() *chunk {
	b := &chunk{edges: make([]uint64, min(c.edges, chunkEdges))}
	if c.weights.Max != 0 {
		b.weights = make([]float32, len(b.edges))
	}
	return b
}

// make fills b with chunk i.
func (c *chunker) make(b *chunk, i int64) {
	first := i * chunkEdges
	n := min(c.edges-first, chunkEdges)
	b.edges = b.edges[:n]
	c.maker.fill(b.edges, first)
	if b.weights != nil {
		b.weights = b.weights[:n]
		c.weights.fill(b.weights, c.key, first)
	}
}

// stream runs the chunks past emit in order. Chunk i uses slot i modulo the
// number of slots, so that a worker that is ahead waits for emit to give its slot
// back, and memory stays bounded.
func stream(ctx context.Context, c chunker, threads int, emit func([]uint64, []float32) error) error {
	stage := progress.Start(ctx, "generate", c.edges, progress.Edges)
	defer stage.Done()
	chunks := (c.edges + chunkEdges - 1) / chunkEdges
	workers := int(min(int64(par.Threads(threads)), chunks))
	if workers <= 1 {
		b := c.newChunk()
		for i := range chunks {
			if err := ctx.Err(); err != nil {
				return err
			}
			c.make(b, i)
			if err := emit(b.edges, b.weights); err != nil {
				return err
			}
			stage.Add(int64(len(b.edges)))
		}
		return ctx.Err()
	}

	type slot struct{ free, full chan *chunk }
	slots := make([]slot, 2*workers)
	for i := range slots {
		slots[i] = slot{free: make(chan *chunk, 1), full: make(chan *chunk, 1)}
		slots[i].free <- c.newChunk()
	}
	ctx, cancel := context.WithCancel(ctx)
	var next atomic.Int64
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	for range workers {
		wg.Go(func() {
			for {
				i := next.Add(1) - 1
				if i >= chunks {
					return
				}
				s := slots[i%int64(len(slots))]
				select {
				case b := <-s.free:
					c.make(b, i)
					s.full <- b
				case <-ctx.Done():
					return
				}
			}
		})
	}
	for i := range chunks {
		s := slots[i%int64(len(slots))]
		select {
		case b := <-s.full:
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := emit(b.edges, b.weights); err != nil {
				return err
			}
			stage.Add(int64(len(b.edges)))
			s.free <- b
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
