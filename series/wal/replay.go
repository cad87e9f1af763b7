package wal

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"weir/series/disk"
)

// Frame is what Append was given, and the segment it is in. The payload is valid until the function that was called
// with it returns.
type Frame struct {
	Segment uint32
	Stream  uint16
	Payload []byte
}

// Recovery is what Replay found.
type Recovery struct {
	Frames int    // that were replayed
	Path   string // of the segment whose end was cut off, and from which byte; empty if none was
	Offset int64
	Cut    int64 // bytes
}

const readSize = 1 << 20

// list finds the segments of the directory.
func (l *Log) list() error {
	if err := l.fs.MkdirAll(l.dir); err != nil {
		return err
	}
	entries, err := l.fs.ReadDir(l.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		var n uint32
		if k, _ := fmt.Sscanf(e.Name, "log-%d.wsl", &n); k == 1 && n > 0 && filepath.Base(l.path(n)) == e.Name {
			l.old = append(l.old, segment{n, e.Size})
		}
	}
	slices.SortFunc(l.old, func(a, b segment) int { return cmp.Compare(a.number, b.number) })
	return nil
}

// Replay calls fn with the frames of the log in order, and makes ready for appending.
//
// In the last segment, the first bad frame is the end of what was being written when the machine stopped: it is cut off
// there. But where it is bad in what a mark says was durable, and in all other segments, it is damage, which is a
// *CorruptError, and so is a segment that is missing between others. After an error, of fn too, Replay may be called
// again.
func (l *Log) Replay(fn func(Frame) error) (Recovery, error) {
	l.turn <- struct{}{}
	defer func() { <-l.turn }()
	l.mu.Lock()
	state, segments := l.state, l.old
	l.mu.Unlock()
	if state == nil && len(segments) == 0 {
		return Recovery{}, nil
	}
	if !errors.Is(state, errReplay) {
		if state == nil {
			state = errors.New("Replay comes once, and before Append")
		}
		return Recovery{}, fmt.Errorf("replay the log in %s: %w", l.dir, state)
	}
	rec := Recovery{}
	for i, s := range segments {
		if i > 0 && s.number != segments[i-1].number+1 {
			return rec, &CorruptError{l.path(segments[i-1].number + 1), 0, errors.New("this segment is missing")}
		}
		last := i == len(segments)-1
		if err := l.replaySegment(s, last, &rec, fn); err != nil {
			return rec, fmt.Errorf("replay the log in %s: %w", l.dir, err)
		}
	}
	l.mu.Lock()
	l.state = nil
	l.mu.Unlock()
	return rec, nil
}

func (l *Log) replaySegment(s segment, last bool, rec *Recovery, fn func(Frame) error) (err error) {
	f, err := l.fs.OpenFile(l.path(s.number), os.O_RDWR)
	if err != nil {
		return err
	}
	keep := false
	defer func() {
		if !keep {
			err = errors.Join(err, f.Close())
		}
	}()
	size, err := f.Size()
	if err != nil {
		return err
	}
	header := make([]byte, headerSize)
	n, err := f.ReadAt(header, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if err := checkHeader(header[:n], s.number); err != nil {
		if !last || size > headerSize {
			return &CorruptError{f.Name(), 0, err}
		}
		// It was being made, and nothing was written to it.
		if err := errors.Join(l.fs.Remove(f.Name()), l.fs.SyncDir(l.dir)); err != nil {
			return err
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.old = l.old[:len(l.old)-1]
		return nil
	}
	r := &frameReader{r: bufio.NewReaderSize(io.NewSectionReader(f, headerSize, size-headerSize), readSize), number: s.number, off: headerSize}
	durable, err := r.replay(rec, fn)
	if isDamage(err) {
		damaged := !last
		if last {
			var markErr error
			if damaged, markErr = durableBehind(f, s.number, r.off, size); markErr != nil {
				return markErr
			}
		}
		if damaged {
			return &CorruptError{f.Name(), r.off, err}
		}
		rec.Path, rec.Offset, rec.Cut = f.Name(), r.off, size-r.off
	} else if err != nil {
		return err
	}
	if !last {
		return nil
	}
	from := durable
	if durable == headerSize {
		from = 0 // nothing says that the header is
	}
	if err := errors.Join(settle(f, from, r.off, size), l.fs.SyncDir(l.dir)); err != nil {
		return err
	}
	keep = true
	l.mu.Lock()
	defer l.mu.Unlock()
	l.old = l.old[:len(l.old)-1]
	l.file, l.off, l.durable, l.marked = f, r.off, r.off, durable
	return nil
}

// replay reads up to the end, and returns the offset in the last mark.
func (r *frameReader) replay(rec *Recovery, fn func(Frame) error) (durable int64, err error) {
	durable = headerSize
	for {
		kind, stream, payload, err := r.next()
		if errors.Is(err, io.EOF) {
			return durable, nil
		}
		if err != nil {
			return durable, err
		}
		if kind == kindMark {
			durable = int64(binary.LittleEndian.Uint32(payload))
			continue
		}
		if err := fn(Frame{r.number, stream, payload}); err != nil {
			return durable, err
		}
		rec.Frames++
	}
}

// settle cuts a segment at end and makes the rest durable. What is behind from, which no mark says is durable, is written
// again: if an fsync failed before, it may be in memory only and not to be written anymore.
func settle(f disk.File, from, end, size int64) error {
	if size > end {
		if err := f.Truncate(end); err != nil {
			return err
		}
	}
	buf := make([]byte, min(readSize, max(0, end-from)))
	for off := from; off < end; off += int64(len(buf)) {
		buf = buf[:min(int64(len(buf)), end-off)]
		if _, err := f.ReadAt(buf, off); err != nil {
			return err
		}
		if _, err := f.WriteAt(buf, off); err != nil {
			return err
		}
	}
	return f.Sync()
}

// durableBehind says whether a mark behind a bad frame tells that the frame was durable.
func durableBehind(f disk.File, number uint32, bad, size int64) (bool, error) {
	buf := make([]byte, readSize)
	for from := bad; from < size; from += readSize - markSize + 1 {
		n, err := f.ReadAt(buf, from)
		if err != nil && !errors.Is(err, io.EOF) {
			return false, err
		}
		for i := 0; ; i++ {
			k := bytes.Index(buf[i:n], []byte(markSign))
			if k < 0 {
				break
			}
			i += k
			r := frameReader{r: bufio.NewReaderSize(bytes.NewReader(buf[i:n]), 16), number: number, off: from + int64(i)}
			if _, _, payload, err := r.next(); err == nil && int64(binary.LittleEndian.Uint32(payload)) > bad {
				return true, nil
			}
		}
	}
	return false, nil
}
