package text

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"

	"weir/graph/names"
)

// A source hands out the chunks of a text to several threads. Chunk i holds the
// lines that begin in the i-th piece of ChunkSize bytes of the body, so that
// what a chunk holds depends on nothing but the text.
type source interface {
	// next returns a chunk, or ok false at the end of the text. Chunks are
	// taken in order, but may be asked for by several threads.
	next(ctx context.Context) (c chunk, ok bool, err error)
	// done gives the memory of a chunk back.
	done(c chunk)
	// progress is how many bytes have been consumed, as they are stored, once
	// the given number of bytes of text has been parsed.
	progress(parsed int64) int64
}

// chunk is n bytes of whole lines, each ended by a line feed, and padding.
type chunk struct {
	index int
	b     []byte
	n     int
	// A text that breaks off does so behind this chunk.
	broken error
}

// tailStep is how much more is read at a time to find the end of a line.
const tailStep = 64 << 10

// randomSource reads a plain file at several places at the same time. It reads
// and does not map: a file that shrinks meanwhile is an error then, no fault, and
// the text is in the cache of the core that is about to parse it.
type randomSource struct {
	in    *Input
	opt   *Options
	body  int64 // where the lines begin
	mu    sync.Mutex
	index int
	free  [][]byte
}

func (s *randomSource) next(ctx context.Context) (chunk, bool, error) {
	if err := ctx.Err(); err != nil {
		return chunk{}, false, err
	}
	s.mu.Lock()
	i := s.index
	s.index++
	var buf []byte
	if k := len(s.free); k > 0 {
		buf, s.free = s.free[k-1], s.free[:k-1]
	}
	s.mu.Unlock()

	size := int64(s.opt.ChunkSize)
	from := s.body + int64(i)*size
	to := min(from+size, s.in.size)
	if from >= s.in.size {
		return chunk{}, false, nil
	}
	// The byte before tells whether a line begins at from.
	lead := int64(0)
	if i > 0 {
		lead = 1
	}
	buf, err := s.extend(buf[:0], from-lead, int(to-from+lead))
	if err != nil {
		return chunk{}, false, err
	}
	start := 0
	if i > 0 {
		// No line begins here where a longer one goes through.
		first := bytes.IndexByte(buf, '\n')
		if first < 0 || first == len(buf)-1 {
			return chunk{index: i, b: buf}, true, nil
		}
		start = first + 1
	}
	// Go on to the end of the last line.
	for end := len(buf) - 1; ; {
		if cut := bytes.IndexByte(buf[end:], '\n'); cut >= 0 {
			buf = buf[:end+cut+1]
			break
		}
		at := from - lead + int64(len(buf))
		if at >= s.in.size || len(buf)-start > s.opt.MaxLine+s.opt.ChunkSize+2 {
			buf = append(buf, '\n')
			break
		}
		end = len(buf)
		if buf, err = s.extend(buf, at, int(min(tailStep+int64(end), s.in.size-at))); err != nil {
			return chunk{}, false, err
		}
	}
	n := len(buf) - start
	buf = append(buf, make([]byte, padding)...)
	return chunk{index: i, b: buf[start:], n: n}, true, nil
}

// extend reads n more bytes of the file behind buf.
func (s *randomSource) extend(buf []byte, at int64, n int) ([]byte, error) {
	have := len(buf)
	if cap(buf) < have+n+padding {
		grown := make([]byte, have, have+n+n/16+2*padding)
		copy(grown, buf)
		buf = grown
	}
	buf = buf[:have+n]
	k, err := s.in.at.ReadAt(buf[have:], at)
	if k < n {
		if err == io.EOF {
			err = fmt.Errorf("it shrank to %d bytes while it was read: %w", at+int64(k), io.ErrUnexpectedEOF)
		}
		return buf[:have], fmt.Errorf("read graph %s: %w", s.in.name, err)
	}
	return buf, nil
}

func (s *randomSource) done(c chunk) {
	s.mu.Lock()
	s.free = append(s.free, c.b)
	s.mu.Unlock()
}

func (s *randomSource) progress(parsed int64) int64 { return s.body + parsed }

// streamSource reads a stream in a goroutine of its own, which also unpacks it.
type streamSource struct {
	in     *Input
	opt    *Options
	chunks chan chunk
	free   chan []byte
	ended  chan struct{} // closed when the goroutine has ended
}

// startStream begins to read behind skip bytes. The goroutine ends with the
// text, or after ctx is done, as soon as the reader returns.
func startStream(ctx context.Context, in *Input, skip int64, opt *Options, buffers int) *streamSource {
	s := &streamSource{in: in, opt: opt, chunks: make(chan chunk, 1), free: make(chan []byte, buffers), ended: make(chan struct{})}
	for range buffers {
		s.free <- nil
	}
	in.used = true
	go s.run(ctx, in.sample[skip:])
	return s
}

// run cuts the stream where randomSource would cut a file.
func (s *streamSource) run(ctx context.Context, carry []byte) {
	defer close(s.ended)
	defer close(s.chunks)
	if s.in.decoder != nil {
		defer s.in.decoder.Close()
	}
	size := s.opt.ChunkSize
	failed := s.in.broken
	atEnd := s.in.whole || failed != nil
	for pos, count := int64(0), 0; ; count++ { // pos is where carry begins in the body
		var buf []byte
		select {
		case buf = <-s.free:
		case <-ctx.Done():
			return
		}
		want := size - int(pos%int64(size)) // the last line begins before this
		buf = append(buf[:0], carry...)
		cut := -1
		for from := want - 1; ; {
			if len(buf) > from {
				if k := bytes.IndexByte(buf[from:], '\n'); k >= 0 {
					cut = from + k + 1
					break
				}
				from = len(buf)
			}
			if atEnd || len(buf) > s.opt.MaxLine+size+2 {
				break
			}
			more := max(want-len(buf), tailStep)
			if len(buf) >= want {
				more = max(more, len(buf)/2) // a long line: no quadratic work
			}
			have := len(buf)
			if cap(buf) < have+more+padding {
				grown := make([]byte, have, have+more+tailStep+2*padding)
				copy(grown, buf)
				buf = grown
			}
			k, err := fill(s.in.r, buf[have:have+more])
			buf = buf[:have+k]
			if err != nil {
				atEnd = true
				if err != io.EOF {
					failed = s.in.explain(err)
				}
			}
			if ctx.Err() != nil {
				return
			}
		}
		var next chunk
		switch {
		case cut >= 0:
			carry = append([]byte(nil), buf[cut:]...)
			next = chunk{index: count, b: buf[:cut]}
			pos += int64(cut)
		default: // the end, or a line that is too long, which will be an error
			carry = nil
			if failed != nil {
				// An unfinished line says nothing of how it would have gone on.
				buf = buf[:bytes.LastIndexByte(buf, '\n')+1]
			}
			if len(buf) > 0 && buf[len(buf)-1] != '\n' {
				buf = append(buf, '\n')
			}
			next = chunk{index: count, b: buf, broken: failed}
		}
		next.n = len(next.b)
		next.b = append(next.b, make([]byte, padding)...)
		select {
		case s.chunks <- next:
		case <-ctx.Done():
			return
		}
		if cut < 0 {
			return
		}
	}
}

func (s *streamSource) next(ctx context.Context) (chunk, bool, error) {
	select {
	case c, ok := <-s.chunks:
		return c, ok, nil
	case <-ctx.Done():
		return chunk{}, false, ctx.Err()
	}
}

func (s *streamSource) done(c chunk) { s.free <- c.b }

func (s *streamSource) progress(int64) int64 { return s.in.stored.n.Load() }

// pool keeps what parts are made of for reuse.
type pool struct {
	mu      sync.Mutex
	edges   [][]uint64
	weights [][]float32
	ints    sync.Pool
	strings sync.Pool
}

func newPool() *pool {
	p := &pool{}
	p.ints.New = func() any { return new(names.Ints) }
	p.strings.New = func() any { return new(names.Strings) }
	return p
}

// get is empty slices; new ones have room for n elements.
func (p *pool) get(n int, weighted bool) ([]uint64, []float32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var edges []uint64
	var weights []float32
	if k := len(p.edges); k > 0 {
		edges, p.edges = p.edges[k-1][:0], p.edges[:k-1]
	} else {
		edges = make([]uint64, 0, n)
	}
	if !weighted {
		return edges, nil
	}
	if k := len(p.weights); k > 0 {
		weights, p.weights = p.weights[k-1][:0], p.weights[:k-1]
	} else {
		weights = make([]float32, 0, n)
	}
	return edges, weights
}

func (p *pool) put(edges []uint64, weights []float32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if edges != nil {
		p.edges = append(p.edges, edges)
	}
	if weights != nil {
		p.weights = append(p.weights, weights)
	}
}
