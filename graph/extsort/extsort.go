// Package extsort sorts edges that do not fit memory.
//
// A [Sorter] takes packed edges in any order, keeps at most a given number of
// bytes of them in memory, and writes the rest to temporary files as sorted runs:
//
//	s, err := extsort.New(extsort.Options{Memory: 256 << 20})
//	defer s.Close()
//	err = s.Add(ctx, edges, nil, false) // again and again
//	stats, err := s.Merge(ctx, nil, func(keys []uint64, weights []float32) error {
//		… // all edges, ascending
//	})
//
// While one run is sorted and written the next fills. Keys are stored as the
// frames of package eliasfano, some three times smaller than they are in memory,
// in blocks with checksums.
//
// Runs are merged without a tree of comparisons: from each run some blocks are
// held; all keys up to the smallest of the last keys held are complete, so they
// are gathered, sorted by radix, and handed out. That costs the same for hundreds
// of runs as for two. More runs than memory has room for are merged in rounds.
package extsort

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"weir/internal/eliasfano"
	"weir/internal/huge"
	"weir/internal/par"
)

// TempPrefix begins the name of the directory that a [Sorter] makes for its
// runs. One that a killed process left behind may be deleted.
const TempPrefix = "weir-sort-"

// MinMemory is the smallest budget of a [Sorter].
const MinMemory = 1 << 20

// Order says by what edges are sorted, which is also the form in which they are
// handed out.
type Order int

const (
	BySource   Order = iota // by source<<32 | target, as edges are packed
	ByTarget                // by target<<32 | source
	AlongCurve              // by the position on the Hilbert curve; see order.Position
)

// Options says how to sort. The zero value sorts by source within [MinMemory].
type Options struct {
	Order    Order
	Weighted bool   // edges have weights
	Dedup    bool   // of equal edges, keep one with the smallest weight
	Memory   int64  // bytes; at least MinMemory, which 0 means
	Dir      string // for temporary files; the system's if empty
	Threads  int    // all processors if not positive
}

// A Renumberer gives vertices new numbers that keep their order, such as
// *names.Rank. Apply changes packed edges in place; it may be called from
// several goroutines.
type Renumberer interface{ Apply(edges []uint64) }

// A Sorter collects edges and hands them out sorted. Its methods must be called
// from one goroutine at a time.
type Sorter struct {
	opt     Options
	threads int
	layout  layout
	dir     string // of the runs; empty until there are any
	runs    []*run // in the order in which their edges were added
	made    int    // runs ever made
	filling *buffer
	spare   *buffer
	scratch buffer
	spill   chan error // delivers once, when the run being written is; nil if none is
	edges   int64
	loops   int64
	closed  bool
	create  func(path string) (io.WriteCloser, error) // os.Create; tests make it fail
}

// layout is how the memory is divided.
type layout struct {
	fill  int // edges of each of the two buffers that fill, and of the sort's scratch
	block int // edges of a block of a run
	fan   int // runs that can be merged at a time
}

// Of a merge's memory, each run takes readBuffer(block) bytes, and has two blocks
// loaded, two in each of two batches, and two in the scratch of the sort.
func layOut(memory int64, weighted bool, threads int) layout {
	width := int64(8)
	if weighted {
		width = 12
	}
	perRun := func(block int64) int64 { return 8*block*width + int64(readBuffer(int(block))) }
	// Small blocks cost seeks and calls; large ones cost runs.
	block := int64(2048)
	for block > eliasfano.FrameLen && 64*perRun(block) > memory {
		block /= 2
	}
	write := int64(writeBuffer + encodersPerThread*threads*blockBytes(int(block), weighted))
	return layout{
		fill:  int(max((memory-write)/(3*width), 2*block)),
		block: int(block),
		fan:   int(min(max(memory/perRun(block), 2), 512)),
	}
}

// A buffer is filled from both ends: with edges that are final from the front,
// with those to be renumbered from the back.
type buffer struct {
	keys       []uint64
	weights    []float32
	final, raw int
}

func (s *Sorter) newBuffer(edges int) *buffer {
	b := &buffer{keys: huge.Make[uint64](edges)}
	if s.opt.Weighted {
		b.weights = huge.Make[float32](edges)
	}
	return b
}

// part is one end of the buffer.
func (b *buffer) part(raw bool) (keys []uint64, weights []float32) {
	lo, hi := 0, b.final
	if raw {
		lo, hi = len(b.keys)-b.raw, len(b.keys)
	}
	if b.weights != nil {
		weights = b.weights[lo:hi]
	}
	return b.keys[lo:hi], weights
}

// New makes a sorter. It touches the disk only when memory is full.
func New(opt Options) (*Sorter, error) {
	if opt.Memory == 0 {
		opt.Memory = MinMemory
	}
	if opt.Memory < MinMemory {
		return nil, fmt.Errorf("sort edges: %d bytes of memory, expected at least %d", opt.Memory, MinMemory)
	}
	if opt.Order < BySource || opt.Order > AlongCurve {
		return nil, fmt.Errorf("sort edges: order %d is not known", opt.Order)
	}
	s := &Sorter{opt: opt, threads: par.Threads(opt.Threads)}
	s.layout = layOut(opt.Memory, opt.Weighted, s.threads)
	s.create = func(path string) (io.WriteCloser, error) {
		return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	}
	return s, nil
}

// Edges is the number of edges added.
func (s *Sorter) Edges() int64 { return s.edges }

// Runs is the number of sorted runs that were written to disk.
func (s *Sorter) Runs() int { return s.made }

// Add adds packed edges (see [order.Pack]), with a weight each if and only if
// the options say so. The slices stay the caller's. Renumber says that the
// ends of these edges are to be renumbered when all are there; such edges cannot
// be sorted along the curve, which numbers that are not final do not have.
//
// Add returns once the edges are copied; it waits where the buffer before is
// still being written, or ctx is done. After an error only Close is of use.
func (s *Sorter) Add(ctx context.Context, edges []uint64, weights []float32, renumber bool) error {
	switch {
	case s.closed:
		return errors.New("sort edges: the sorter is closed")
	case s.opt.Weighted && len(weights) != len(edges):
		return fmt.Errorf("sort edges: %d weights, expected %d", len(weights), len(edges))
	case !s.opt.Weighted && weights != nil:
		return errors.New("sort edges: weights, expected none")
	case renumber && s.opt.Order == AlongCurve:
		return errors.New("sort edges: edges that are still to be renumbered have no place on the curve")
	}
	for len(edges) > 0 {
		if s.filling == nil {
			s.filling = s.newBuffer(s.layout.fill)
		}
		b := s.filling
		n := min(len(edges), len(b.keys)-b.final-b.raw)
		at := b.final
		if renumber {
			at = len(b.keys) - b.raw - n
			b.raw += n
		} else {
			b.final += n
		}
		loops := int64(0)
		keys := b.keys[at : at+n]
		for i, e := range edges[:n] {
			keys[i] = e
			if uint32(e>>32) == uint32(e) {
				loops++
			}
		}
		s.loops += loops
		if s.opt.Weighted {
			copy(b.weights[at:], weights[:n])
			weights = weights[n:]
		}
		edges = edges[n:]
		s.edges += int64(n)
		if b.final+b.raw == len(b.keys) {
			if err := s.flush(ctx); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// flush begins to write what is in the buffer, once the buffer before is written.
func (s *Sorter) flush(ctx context.Context) error {
	if err := s.settle(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.dir == "" {
		dir, err := os.MkdirTemp(s.opt.Dir, TempPrefix+"*")
		if err != nil {
			return fmt.Errorf("make a directory for sorted runs: %w", err)
		}
		s.dir = dir
	}
	full := s.filling
	s.filling, s.spare = s.spare, full
	done := make(chan error, 1)
	s.spill = done
	go func() { done <- s.write(ctx, full) }()
	return nil
}

// settle waits for the run being written.
func (s *Sorter) settle() error {
	if s.spill == nil {
		return nil
	}
	err := <-s.spill
	s.spill = nil
	return err
}

// write sorts the edges of a full buffer, writes them as runs, and empties it.
func (s *Sorter) write(ctx context.Context, b *buffer) error {
	for _, raw := range []bool{false, true} {
		keys, weights := b.part(raw)
		if len(keys) == 0 {
			continue
		}
		if err := s.sort(ctx, keys, weights); err != nil {
			return err
		}
		w, err := s.newRun(raw)
		if err != nil {
			return err
		}
		err = w.write(ctx, keys, weights)
		r, closeErr := w.close()
		if err = cmp.Or(err, closeErr); err != nil { // the same, said twice, if both
			return err
		}
		s.runs = append(s.runs, r)
	}
	b.final, b.raw = 0, 0
	return nil
}

// Close waits for what is under way and removes all temporary files. It may be
// called again.
func (s *Sorter) Close() error {
	s.closed = true
	// What went wrong with the run matters no more.
	_ = s.settle()
	s.filling, s.spare, s.scratch = nil, nil, buffer{}
	for _, r := range s.runs {
		r.forget()
	}
	s.runs = nil
	if s.dir == "" {
		return nil
	}
	if err := os.RemoveAll(s.dir); err != nil {
		return fmt.Errorf("remove sorted runs: %w", err)
	}
	s.dir = ""
	return nil
}

// runPath is the name of the next run's file.
func (s *Sorter) runPath() string {
	s.made++
	return filepath.Join(s.dir, fmt.Sprintf("run-%06d", s.made))
}
