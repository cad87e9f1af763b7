// Package wal is a write-ahead log: frames of many streams in one sequence of files, the segments, so that all who wait
// for the disk wait for the same write and the same fsync.
//
//	l, err := wal.Open(disk.OS(), dir, wal.Options{Sync: wal.Always})
//	_, err = l.Replay(func(f wal.Frame) error { ... }) // what was there before
//	lsn, err := l.Append(stream, payload)              // in memory, in order
//	err = l.Commit(ctx, lsn)                           // as durable as Options.Sync asks
//	err = l.Release(segment)                           // what is below it is kept elsewhere by now
//
// What is found by Replay is, of what was appended, a prefix: each frame once, in order, and none is missing of those
// that were durable. A frame that Append accepted is never withdrawn. If Commit fails since the disk is full, the frame
// stays in memory and a later Commit, of this frame or another one, tries again.
//
// Everything may be called at once, but Open and Replay come first.
package wal

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"path/filepath"
	"sync"
	"time"

	"weir/series/disk"
)

// LSN is the number of a frame in the order of Append since Open, from 1 on.
type LSN uint64

const (
	// MaxFrame is how many bytes the payload of a frame may have.
	MaxFrame = 4 << 20

	maxPending     = 16 << 20 // bytes in memory above which Append waits for the disk
	minSegmentSize = 4 << 10
	maxSegmentSize = 1 << 30 // and MaxFrame: offsets have 32 bits
)

// Errors that callers test for.
var (
	ErrFull   = errors.New("the disk is full") // nothing is lost; there may be room later
	ErrFailed = errors.New("the log failed and must be opened again")
	ErrClosed = errors.New("the log is closed")
)

var errReplay = errors.New("a log that was there before: Replay comes before Append")

// CorruptError says where the log is damaged.
type CorruptError struct {
	Path   string
	Offset int64
	Err    error
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("%s, from byte %d: %v", e.Path, e.Offset, e.Err)
}

func (e *CorruptError) Unwrap() error { return e.Err }

// Mode is what Commit waits for.
type Mode int

// The modes. A write(2) outlives the program, and an fsync the machine.
const (
	Always   Mode = iota // fsync
	Interval             // write(2); there is an fsync every Options.Interval
	Never                // write(2); there is an fsync only of segments that are full, by Sync and by Close
)

// Options are the modes and sizes of a log. Fields that are 0 have the default.
type Options struct {
	Sync        Mode
	Interval    time.Duration // 100 ms by default
	SegmentSize int64         // bytes after which a segment is full: 64 MiB by default, 4 KiB to 1 GiB
	First       uint32        // number of the first segment if there is none, 1 by default
	Reserve     int64         // bytes of the disk that are left free; none by default

	// OnError is told what goes wrong while nobody waits: of the writes and fsyncs of mode Interval. It is called again
	// only after things went well in between. It must not call Close.
	OnError func(error)
	// BeforeSync, if it is not nil, is called before frames are made durable, and makes durable what they refer to. If it
	// fails, they are not, and a later Commit tries again. It must not call the log.
	BeforeSync func() error
	// Damaged, if it is not nil, is told what Replay finds to be damaged, and Replay goes on behind it.
	Damaged func(*CorruptError)
}

func (o *Options) check() error {
	if o.Interval == 0 {
		o.Interval = 100 * time.Millisecond
	}
	if o.SegmentSize == 0 {
		o.SegmentSize = 64 << 20
	}
	if o.First == 0 {
		o.First = 1
	}
	switch {
	case o.Sync < Always || o.Sync > Never:
		return fmt.Errorf("mode %d of Sync; expected Always, Interval or Never", o.Sync)
	case o.Reserve < 0:
		return fmt.Errorf("a reserve of %d bytes; expected 0 or more", o.Reserve)
	case o.Interval < 0:
		return fmt.Errorf("an interval of %v; expected a positive one", o.Interval)
	case o.SegmentSize < minSegmentSize || o.SegmentSize > maxSegmentSize:
		return fmt.Errorf("a segment of %d bytes; expected %d to %d", o.SegmentSize, minSegmentSize, maxSegmentSize)
	}
	return nil
}

// Log is a log. Its locks are taken in the order turn, syncing, mu.
type Log struct {
	fs  disk.FS
	dir string
	o   Options

	turn chan struct{} // who puts something in it is the leader: the one who writes, and makes files
	// Only the leader uses these.
	out    []byte // is being written: frames, perhaps with a mark before them
	next   int    // where the first frame of out begins that is not written
	sealed int    // up to where the frames of out have their checksums, which depend on where they go
	frames LSN    // how many there are from next to sealed
	outEnd LSN    // the last frame of out
	marked int64  // the offset in the last mark of this segment
	room   int64  // bytes that may be written before somebody looks how much is free

	syncing sync.Mutex // held for an fsync, and to replace the file

	mu       sync.Mutex // never held while the disk is waited for
	state    error      // why there is no appending
	pending  []byte     // frames that are not in out yet, behind room for a mark
	appended LSN
	written  LSN
	synced   LSN
	file     disk.File // nil until there is something to write
	number   uint32    // of the segment that is written to
	off      int64     // where in it the next frame goes
	durable  int64     // offset below which the segment is durable
	old      []segment // those before it
	round    *round    // of writing, that is going on or comes next

	wake       chan struct{} // in mode Interval: something was appended
	stop, done chan struct{}
	stopOnce   sync.Once
	releasing  sync.Mutex
}

type segment struct {
	number uint32
	size   int64
}

// round is one turn of a leader. All is set once done is closed.
type round struct {
	done chan struct{}
	upto LSN // the frames that it was about
	err  error
}

func (l *Log) path(number uint32) string { return segmentPath(l.dir, number) }

func segmentPath(dir string, number uint32) string {
	return filepath.Join(dir, fmt.Sprintf("log-%08d.wsl", number))
}

// Open opens the log of a directory, which it makes where there is none. Only one Log of a directory may be open, which
// is for the caller to see to. Where there was a log, Replay is to be called before anything is appended.
func Open(fs disk.FS, dir string, o Options) (*Log, error) {
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("open the log in %s: %w", dir, err)
	}
	l := &Log{fs: fs, dir: dir, o: o, turn: make(chan struct{}, 1), number: o.First,
		out: make([]byte, markSize), next: markSize, pending: make([]byte, markSize),
		round: &round{done: make(chan struct{})},
		wake:  make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
	if err := l.list(); err != nil {
		return nil, fmt.Errorf("open the log in %s: %w", dir, err)
	}
	if len(l.old) > 0 {
		l.number = l.old[len(l.old)-1].number
		l.state = errReplay
	}
	if o.Sync == Interval {
		go l.every()
	} else {
		close(l.done)
	}
	return l, nil
}

// Append adds a frame of at most MaxFrame bytes, which are copied. It is in memory until Commit. Where much is, Append
// waits for it to be written; if that fails, the frame was not accepted.
func (l *Log) Append(stream uint16, payload []byte) (LSN, error) {
	if len(payload) > MaxFrame {
		return 0, fmt.Errorf("append to the log in %s: a frame of %d bytes; expected at most %d", l.dir, len(payload), MaxFrame)
	}
	head := frameHead(kindData, stream, len(payload))
	sum := crc32.Update(crc32.Checksum(head[8:], castagnoli), castagnoli, payload)
	putSum(head[:], sum)
	for {
		l.mu.Lock()
		if err := l.state; err != nil {
			l.mu.Unlock()
			return 0, fmt.Errorf("append to the log in %s: %w", l.dir, err)
		}
		if l.fits(len(payload)) {
			l.pending = append(append(l.pending, head[:]...), payload...)
			l.appended++
			lsn := l.appended
			l.mu.Unlock()
			if l.o.Sync == Interval {
				select {
				case l.wake <- struct{}{}:
				default:
				}
			}
			return lsn, nil
		}
		l.mu.Unlock()
		l.turn <- struct{}{}
		l.mu.Lock()
		free := l.fits(len(payload))
		l.mu.Unlock()
		var err error
		if !free {
			err = l.lead(false)
		}
		<-l.turn
		if err != nil {
			return 0, err
		}
	}
}

// fits says whether a payload may be put to what is pending. It is called with mu held.
func (l *Log) fits(n int) bool {
	return len(l.pending) == markSize || len(l.pending)+frameSize+n <= maxPending
}

// Segment is the number of the segment that is written to. All frames in segments below it were appended before the
// call, and whatever is appended after it goes to this one or a higher one.
func (l *Log) Segment() uint32 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.number
}

// Size is how many bytes all segments have.
func (l *Log) Size() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	size := l.off
	for _, s := range l.old {
		size += s.size
	}
	return size
}

// Release removes the segments below one, except the one that is written to.
func (l *Log) Release(before uint32) error {
	l.mu.Lock()
	before = min(before, l.number)
	state := l.state
	l.mu.Unlock()
	if errors.Is(state, errReplay) {
		return fmt.Errorf("release segments of the log in %s: %w", l.dir, state)
	}
	return l.remove(func(s segment) bool { return s.number < before })
}

// remove removes the oldest segments for which which is true, one after the other. Each removal is durable before the
// next one, so that a loss of power leaves no gap.
func (l *Log) remove(which func(segment) bool) error {
	l.releasing.Lock()
	defer l.releasing.Unlock()
	for {
		l.mu.Lock()
		var s segment
		if len(l.old) > 0 {
			s = l.old[0]
		}
		l.mu.Unlock()
		if s.number == 0 || !which(s) {
			return nil
		}
		if err := l.fs.Remove(l.path(s.number)); err != nil && !isMissing(err) {
			return fmt.Errorf("release segment %d of the log: %w", s.number, err)
		}
		if err := l.fs.SyncDir(l.dir); err != nil {
			return fmt.Errorf("release segment %d of the log: %w", s.number, err)
		}
		l.mu.Lock()
		l.old = l.old[1:]
		l.mu.Unlock()
	}
}

// Close writes everything that was appended and makes it durable, and closes the log, even if it returns an error.
func (l *Log) Close() error {
	l.mu.Lock()
	state := l.state
	if !errors.Is(state, ErrClosed) {
		l.state = ErrClosed
	}
	l.mu.Unlock()
	l.stopOnce.Do(func() { close(l.stop) })
	<-l.done
	if errors.Is(state, ErrClosed) {
		return nil
	}
	l.turn <- struct{}{}
	defer func() { <-l.turn }()
	var err error
	switch {
	case errors.Is(state, ErrFailed):
		err = state
	case state == nil:
		err = l.lead(true)
	}
	l.syncing.Lock()
	defer l.syncing.Unlock()
	if l.file != nil {
		err = errors.Join(err, l.file.Close())
	}
	if err != nil {
		return fmt.Errorf("close the log in %s: %w", l.dir, err)
	}
	return nil
}

// CloseEmpty closes the log and removes all of it. It is for those who have all that was appended elsewhere by now. If
// it cannot be closed well, nothing is removed.
func (l *Log) CloseEmpty() error {
	if err := l.Close(); err != nil {
		return err
	}
	l.mu.Lock()
	if l.file != nil {
		l.old = append(l.old, segment{l.number, l.off})
		l.file, l.off = nil, 0
	}
	l.mu.Unlock()
	return l.remove(func(segment) bool { return true })
}

// every writes and syncs in mode Interval, as long as there is something to.
func (l *Log) every() {
	defer close(l.done)
	timer := time.NewTimer(l.o.Interval)
	timer.Stop()
	told := false
	for {
		select {
		case <-l.stop:
			return
		case <-l.wake:
		}
		for again := true; again; {
			timer.Reset(l.o.Interval)
			select {
			case <-l.stop:
				return
			case <-timer.C:
			}
			err := l.Sync(context.Background())
			if errors.Is(err, ErrClosed) {
				return
			}
			if err != nil && !told && l.o.OnError != nil {
				l.o.OnError(err)
			}
			told = err != nil
			again = told && !errors.Is(err, ErrFailed)
		}
	}
}
