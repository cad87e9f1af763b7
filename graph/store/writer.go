package store

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"

	"github.com/zeebo/xxh3"

	"weir/internal/mapfile"
)

// Writer makes a graph file. It writes under a temporary name beside the final
// one, which appears only when Close has succeeded: a crash, a full disk or
// Abort never leaves half a file under the final name, and a file that is
// replaced stays whole for those who have it mapped.
type Writer struct {
	// Meta is what Close stores. It may be filled in at any time before.
	Meta Meta

	path, temp string
	file       *os.File
	block      int64 // bytes that share a checksum

	mu       sync.Mutex
	sections []*SectionWriter
	end      int64          // where the next section may begin
	growing  *SectionWriter // the section of unknown size, while it is open
}

// Create begins a graph file at path. The caller ends it with Close or Abort.
func Create(path string) (*Writer, error) {
	if err := mapfile.HostOrder(); err != nil {
		return nil, fmt.Errorf("create %s: %w", path, err)
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("create %s: it exists and is not a regular file", path)
	}
	temp := fmt.Sprintf("%s.%08x.tmp", path, rand.Uint32())
	f, err := os.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, fmt.Errorf("create %s: %w", path, err)
	}
	return &Writer{
		Meta: Meta{SelfLoops: Unknown, Duplicates: Unknown},
		path: path, temp: temp, file: f, block: blockSize, end: pageSize,
	}, nil
}

// Section begins a section of size bytes, or of as many as will be written if
// size is negative. Sections of known size may be open at the same time and
// written from different goroutines; one of unknown size must be closed before
// the next begins.
func (w *Writer) Section(kind Kind, size int64) (*SectionWriter, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	d, known := kinds[kind]
	switch {
	case w.file == nil:
		return nil, fmt.Errorf("write %s: it is closed", w.path)
	case !known:
		return nil, fmt.Errorf("write %s: unknown section kind %d", w.path, uint32(kind))
	case w.growing != nil:
		return nil, fmt.Errorf("write %s: section %s begins while %s, of unknown size, is open", w.path, kind, w.growing.kind)
	case slices.ContainsFunc(w.sections, func(s *SectionWriter) bool { return s.kind == kind }):
		return nil, fmt.Errorf("write %s: section %s begins twice", w.path, kind)
	}
	s := &SectionWriter{
		section: section{kind: kind, width: d.width, offset: w.end, block: w.block},
		w:       w, declared: size,
	}
	if size < 0 {
		w.growing = s
	} else {
		w.place(s, size)
	}
	w.sections = append(w.sections, s)
	return s, nil
}

// place fixes where a section of the given size and its checksums lie.
func (w *Writer) place(s *SectionWriter, size int64) {
	s.length = size
	s.sumsAt = roundUp(s.offset+size, 8)
	w.end = roundUp(s.sumsEnd(), pageSize)
}

func roundUp(n, to int64) int64 { return (n + to - 1) &^ (to - 1) }

// Close checks that the sections fit Meta, flushes everything to the disk, the
// header last, and gives the file its name. When it fails nothing is left.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.file == nil {
		return fmt.Errorf("write %s: it is closed", w.path)
	}
	defer w.abort()
	byKind := make(map[Kind]*section)
	var table []*section
	size := int64(pageSize)
	for _, s := range w.sections {
		if !s.closed {
			return fmt.Errorf("write %s: section %s is not closed", w.path, s.kind)
		}
		byKind[s.kind] = &s.section
		table = append(table, &s.section)
		size = max(size, s.offset+s.length, s.sumsEnd())
	}
	if err := checkShape(&w.Meta, byKind); err != nil {
		return fmt.Errorf("write %s: %w", w.path, err)
	}
	for _, n := range []int64{w.Meta.SelfLoops, w.Meta.Duplicates} {
		if n < Unknown || n > w.Meta.Edges {
			return fmt.Errorf("write %s: %d self-loops or duplicates among %d edges", w.path, n, w.Meta.Edges)
		}
	}
	if err := w.file.Truncate(size); err != nil {
		return w.failed("extend", err)
	}
	// The sections must be on the disk before a header vouches for them.
	if err := w.file.Sync(); err != nil {
		return w.failed("flush", err)
	}
	if _, err := w.file.WriteAt(encodeHeader(&w.Meta, table, size), 0); err != nil {
		return w.failed("write the header of", err)
	}
	if err := w.file.Sync(); err != nil {
		return w.failed("flush", err)
	}
	f := w.file
	w.file = nil
	if err := errors.Join(f.Close(), os.Rename(w.temp, w.path)); err != nil {
		return errors.Join(w.failed("finish", err), os.Remove(w.temp))
	}
	return syncDir(filepath.Dir(w.path))
}

// Abort removes what was written. After Close it does nothing, so that it can be
// deferred.
func (w *Writer) Abort() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.abort()
}

func (w *Writer) abort() {
	if w.file == nil {
		return
	}
	// The file is being thrown away: that it cannot be closed loses nothing.
	_ = w.file.Close()
	_ = os.Remove(w.temp)
	w.file = nil
}

// failed says what could not be done; a full disk in plain words.
func (w *Writer) failed(verb string, err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("%s %s: the disk is full, or a quota is reached: %w", verb, w.path, err)
	}
	return fmt.Errorf("%s %s: %w", verb, w.path, err)
}

// syncDir makes a rename in dir durable, where directories can be flushed.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return nil // a directory may be writable and not readable
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, os.ErrPermission) {
		return fmt.Errorf("flush directory %s: %w", dir, err)
	}
	return nil
}

// sumBlock is the checksum of one block.
func sumBlock(b []byte) uint64 { return xxh3.Hash(b) }
