package series

import (
	"context"
	"errors"

	"weir/series/names"
	"weir/series/tree"
	"weir/series/wal"
)

// Writer adds points to a store. It is for one goroutine; there may be any number of them. Points gather in it until
// there are some of a shard, or until Commit.
type Writer struct {
	s       *Store
	batches [shardCount]batch
	lsn     wal.LSN // of the last frame that has points of this writer
	refused RefusedError
	failed  error // of the log, told by the next Commit
	closed  bool
}

// batch is points of a shard.
type batch struct {
	points []point
	texts  []byte
}

type point struct {
	time  int64
	value float64
	id    names.ID
	text  int32 // length of an event's text plus 1; 0 for a number
}

const (
	batchPoints = 512
	batchTexts  = 1 << 20
)

// Writer returns a writer. It is to be closed.
func (s *Store) Writer() *Writer { return &Writer{s: s} }

// Series finds the ID of a name such as "cpu dc=x host=a", or gives it one. The name need not be in canonical form. An
// error is a *names.SyntaxError, ErrLimit, or what keeps the name from being stored.
func (w *Writer) Series(name string) (names.ID, error) { return w.SeriesBytes([]byte(name)) }

// SeriesBytes is Series for a name in bytes, of which nothing is kept.
func (w *Writer) SeriesBytes(name []byte) (names.ID, error) {
	s := w.s
	id, ok, err := s.names.Lookup(name)
	if ok || err != nil {
		return id, err
	}
	if limit := s.o.MaxSeries; limit > 0 {
		s.creating.Lock()
		defer s.creating.Unlock()
		if id, ok, err := s.names.Lookup(name); ok || err != nil {
			return id, err
		}
		if s.names.Len() >= limit {
			return 0, ErrLimit
		}
	}
	id, _, err = s.names.Add(name)
	if errors.Is(err, names.ErrClosed) {
		err = ErrClosed
	}
	return id, full(err)
}

// Add adds a point: a time in nanoseconds since 1970, and a value. It may be read, and will be kept, once Commit
// returned. An error is of points before it as well, and is told by Commit again.
func (w *Writer) Add(id names.ID, time int64, value float64) error {
	b := &w.batches[id%shardCount]
	b.points = append(b.points, point{time: time, value: value, id: id})
	if len(b.points) < batchPoints {
		return nil
	}
	return w.flushFull(int(id % shardCount))
}

// AddEvent adds an event, whose text has at most tree.MaxText bytes and is not kept.
func (w *Writer) AddEvent(id names.ID, time int64, text []byte) error {
	b := &w.batches[id%shardCount]
	b.points = append(b.points, point{time: time, id: id, text: int32(len(text)) + 1})
	b.texts = append(b.texts, text...)
	if len(b.points) < batchPoints && len(b.texts) < batchTexts {
		return nil
	}
	return w.flushFull(int(id % shardCount))
}

// Commit returns once all points that were added can be read, and are as durable as Options.Sync asks. A *RefusedError
// says that some were not stored; the others were. After another error it is not known which were.
func (w *Writer) Commit(ctx context.Context) error {
	w.flushAll()
	var refused error
	if w.refused.Points > 0 {
		r := w.refused
		refused = &r
		w.refused = RefusedError{}
	}
	if w.lsn > 0 {
		s := w.s
		s.life.RLock()
		defer s.life.RUnlock()
		if s.closed {
			return ErrClosed
		}
		if err := s.log.Commit(ctx, w.lsn); err != nil {
			return errors.Join(full(err), refused)
		}
	}
	failed := w.failed
	w.failed = nil
	return errors.Join(failed, refused)
}

// Close commits what was added.
func (w *Writer) Close() error {
	if w.closed {
		return nil
	}
	w.closed = true
	return w.Commit(context.Background())
}

// flushAll gives all points to the trees and to the log, first those of shards that nobody else is at.
func (w *Writer) flushAll() {
	w.s.life.RLock()
	defer w.s.life.RUnlock()
	for i := range w.batches {
		if sh := &w.s.shards[i]; len(w.batches[i].points) > 0 && sh.mu.TryLock() {
			_ = w.flush(i) // is in w.refused
			sh.mu.Unlock()
		}
	}
	for i := range w.batches {
		if sh := &w.s.shards[i]; len(w.batches[i].points) > 0 {
			sh.mu.Lock()
			_ = w.flush(i)
			sh.mu.Unlock()
		}
	}
}

// flushFull gives the points of a shard to its trees and to the log.
func (w *Writer) flushFull(i int) error {
	w.s.life.RLock()
	defer w.s.life.RUnlock()
	sh := &w.s.shards[i]
	sh.mu.Lock()
	defer sh.mu.Unlock()
	return w.flush(i)
}

// flush gives the points of a shard, which is locked, to its trees and to the log. Those that cannot be stored are
// dropped, and counted.
func (w *Writer) flush(i int) error {
	b := &w.batches[i]
	lsn, stored, err := w.s.store(i, b)
	w.lsn = max(w.lsn, lsn)
	var unlogged *unloggedError
	if errors.As(err, &unlogged) {
		w.failed = unlogged.Err
		err = w.failed
	} else if n := len(b.points) - stored; n > 0 {
		if w.refused.Points == 0 {
			w.refused.Err = err
		}
		w.refused.Points += n
	}
	b.points, b.texts = b.points[:0], b.texts[:0]
	return err
}

// unloggedError says that points are in the trees and not in the log: they can be read, and will be in volumes, but they
// are not confirmed.
type unloggedError struct{ Err error }

func (e *unloggedError) Error() string { return e.Err.Error() }
func (e *unloggedError) Unwrap() error { return e.Err }

// store adds points to a shard, which is locked, and to the log, and returns how many were; the error is that of the
// first one that was not.
func (s *Store) store(i int, b *batch) (lsn wal.LSN, stored int, err error) {
	if s.closed {
		return 0, 0, ErrClosed
	}
	if err := s.keepNames(b); err != nil {
		return 0, 0, full(err)
	}
	sh := &s.shards[i]
	segment := uint32(1)
	if s.log != nil {
		segment = s.log.Segment()
	}
	sh.frame.reset(shardCount)
	texts := b.texts
	if texts == nil {
		texts = []byte{} // an event may have an empty text, but has one
	}
	for _, p := range b.points {
		var text []byte
		if p.text > 0 {
			text, texts = texts[:p.text-1:p.text-1], texts[p.text-1:]
		}
		if e := s.add(sh, p, text, segment); e != nil {
			if err == nil {
				err = e
			}
			continue
		}
		stored++
	}
	if s.log != nil && !sh.frame.empty {
		var e error
		if lsn, e = s.log.Append(uint16(i), sh.frame.buf); e != nil {
			return 0, stored, &unloggedError{full(e)}
		}
	}
	return lsn, stored, err
}

// add adds a point to its tree, and to the frame for the log.
func (s *Store) add(sh *shard, p point, text []byte, segment uint32) error {
	if err := s.refuse(sh, p.id, p.text > 0); err != nil {
		return err
	}
	if p.text > 0 {
		place, err := sh.forest.AppendEvent(p.id, p.time, text, segment)
		if err == nil && s.log != nil {
			sh.frame.point(p.id, p.time, 0, text, place)
		}
		return err
	}
	place, err := sh.forest.Append(p.id, p.time, p.value, segment)
	if err == nil && s.log != nil {
		sh.frame.point(p.id, p.time, p.value, nil, place)
	}
	return err
}

// keepNames sees to it that the names of the series of points are in their file before any point is in the log or in a
// volume.
func (s *Store) keepNames(b *batch) error {
	highest := names.ID(0)
	for i := range b.points {
		highest = max(highest, b.points[i].id)
	}
	if uint64(highest) < s.namesKept.Load() {
		return nil
	}
	next := uint64(s.names.Next())
	if err := s.names.Flush(); err != nil {
		return err
	}
	for {
		kept := s.namesKept.Load()
		if kept >= next || s.namesKept.CompareAndSwap(kept, next) {
			return nil
		}
	}
}

// MaxText is how many bytes the text of an event may have.
const MaxText = tree.MaxText
