package store

import (
	"fmt"
	"sync/atomic"

	"weir/internal/mapfile"
	"weir/internal/par"
)

// SectionWriter writes one section of a graph file front to back. Writes of
// several blocks are checksummed and stored by all processors; smaller ones are
// gathered. It is used from one goroutine at a time.
type SectionWriter struct {
	section
	w        *Writer
	declared int64 // bytes, or negative
	written  int64 // bytes accepted so far
	buf      []byte
	sums     []uint64
	closed   bool
	err      error // the first failure: later calls return it again
}

// Write appends p, which it does not keep.
func (s *SectionWriter) Write(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	if s.closed {
		return 0, fmt.Errorf("write section %s of %s: it is closed", s.kind, s.w.path)
	}
	if left := s.declared - s.written; s.declared >= 0 && int64(len(p)) > left {
		return 0, s.fail(fmt.Errorf("write section %s of %s: %d bytes more than its declared %d", s.kind, s.w.path, int64(len(p))-left, s.declared))
	}
	s.written += int64(len(p))
	n, rest := len(p), p
	block := int(s.block)
	if len(s.buf) > 0 {
		k := min(block-len(s.buf), len(rest))
		s.buf = append(s.buf, rest[:k]...)
		rest = rest[k:]
		if len(s.buf) == block {
			if err := s.put(s.buf); err != nil {
				return 0, err
			}
			s.buf = s.buf[:0]
		}
	}
	if whole := len(rest) / block * block; whole > 0 {
		if err := s.put(rest[:whole]); err != nil {
			return 0, err
		}
		rest = rest[whole:]
	}
	if len(rest) > 0 {
		if s.buf == nil {
			s.buf = make([]byte, 0, block)
		}
		s.buf = append(s.buf, rest...)
	}
	return n, nil
}

// WriteSlice appends the elements of v, whose width must be that of the section's
// elements or divide it, as they lie in memory.
func (s *SectionWriter) WriteSlice[T any](v []T) error {
	_, err := s.Write(mapfile.Bytes(v))
	return err
}

// put stores blocks at the section's end: whole ones, or its last.
func (s *SectionWriter) put(p []byte) error {
	block := int(s.block)
	first := len(s.sums)
	count := (len(p) + block - 1) / block
	s.sums = append(s.sums, make([]uint64, count)...)
	var failure atomic.Pointer[error]
	store := func(i int) {
		b := p[i*block : min((i+1)*block, len(p))]
		s.sums[first+i] = sumBlock(b)
		if _, err := s.w.file.WriteAt(b, s.offset+int64(first+i)*s.block); err != nil {
			failure.CompareAndSwap(nil, &err)
		}
	}
	par.Each(min(par.Threads(0), max(1, count/4)), func(worker int) {
		threads := min(par.Threads(0), max(1, count/4))
		for i := worker * count / threads; i < (worker+1)*count/threads && failure.Load() == nil; i++ {
			store(i)
		}
	})
	if err := failure.Load(); err != nil {
		return s.fail(s.w.failed(fmt.Sprintf("write section %s of", s.kind), *err))
	}
	return nil
}

func (s *SectionWriter) fail(err error) error {
	s.err = err
	return err
}

// Close ends the section. It fails if fewer bytes than declared were written.
func (s *SectionWriter) Close() error {
	if s.err != nil || s.closed {
		return s.err
	}
	if s.declared >= 0 && s.written != s.declared {
		return s.fail(fmt.Errorf("write section %s of %s: %d bytes written of %d declared", s.kind, s.w.path, s.written, s.declared))
	}
	if s.written%int64(s.width) != 0 {
		return s.fail(fmt.Errorf("write section %s of %s: %d bytes are not a whole number of elements of %d", s.kind, s.w.path, s.written, s.width))
	}
	if len(s.buf) > 0 {
		if err := s.put(s.buf); err != nil {
			return err
		}
	}
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	if s.w.file == nil {
		return s.fail(fmt.Errorf("write section %s of %s: the file is closed", s.kind, s.w.path))
	}
	if s.declared < 0 {
		s.w.place(s, s.written)
		s.w.growing = nil
	}
	sums := mapfile.Bytes(s.sums)
	s.sumSum = sumBlock(sums)
	if _, err := s.w.file.WriteAt(sums, s.sumsAt); err != nil {
		return s.fail(s.w.failed(fmt.Sprintf("write the checksums of section %s of", s.kind), err))
	}
	s.buf, s.sums, s.closed = nil, nil, true
	return nil
}
