package wal

import (
	"errors"
	"fmt"
	"os"

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

// list finds the segments of the directory.
func (l *Log) list() (err error) {
	if err := l.fs.MkdirAll(l.dir); err != nil {
		return err
	}
	l.old, err = list(l.fs, l.dir)
	return err
}

// Replay calls fn with the frames of the log in order, and makes ready for appending.
//
// In the last segment, the first bad frame is the end of what was being written when the machine stopped: it is cut off
// there. But where it is bad in what a mark says was durable, and in all other segments, it is damage, which is a
// *CorruptError, and so is a segment that is missing between others. With Options.Damaged, that is told of damage, and
// what is good behind it is read. After an error, of fn too, Replay may be called again.
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
	r := reader{dir: l.dir, fs: l.fs, fn: fn, damaged: l.o.Damaged}
	for i, s := range segments {
		if err := l.replaySegment(&r, s, segments[i+1:]); err != nil {
			return r.Recovery, fmt.Errorf("replay the log in %s: %w", l.dir, err)
		}
	}
	l.mu.Lock()
	l.state = nil
	l.mu.Unlock()
	return r.Recovery, nil
}

// replaySegment reads a segment, and cuts off what is torn of the last one, which is written to from now on.
func (l *Log) replaySegment(r *reader, s segment, others []segment) (err error) {
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
	last := len(others) == 0
	got, err := r.segment(f, s.number, last)
	if err != nil || !last {
		return errors.Join(err, r.follows(s, others))
	}
	if got.unborn {
		// It was being made, and nothing was written to it.
		if err := errors.Join(l.fs.Remove(f.Name()), l.fs.SyncDir(l.dir)); err != nil {
			return err
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.old = l.old[:len(l.old)-1]
		return nil
	}
	from := got.durable
	if got.durable == headerSize {
		from = 0 // nothing says that the header is
	}
	if got.headless {
		if _, err := f.WriteAt(appendHeader(nil, s.number), 0); err != nil {
			return err
		}
	}
	if err := errors.Join(settle(f, from, got.end, got.size), l.fs.SyncDir(l.dir)); err != nil {
		return err
	}
	keep = true
	l.mu.Lock()
	defer l.mu.Unlock()
	l.old = l.old[:len(l.old)-1]
	l.file, l.off, l.durable, l.marked = f, got.end, got.end, got.durable
	return nil
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
