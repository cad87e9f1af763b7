package series

import (
	"context"
	"errors"

	"weir/series/names"
	"weir/series/wal"
)

// Delete takes away the points, from one time to another, both included, of the series that meet all matches. What
// comes later stays, whatever its time. It returns how many series had points, once the deletion is as durable as
// Options.Sync asks.
func (s *Store) Delete(ctx context.Context, where []names.Match, from, to int64) (int, error) {
	found, err := s.names.Find(ctx, where)
	if err != nil {
		return 0, err
	}
	s.life.RLock()
	defer s.life.RUnlock()
	if s.closed {
		return 0, ErrClosed
	}
	n, err := s.deleteAll(ctx, found, from, to)
	return n, full(err)
}

// deleteAll deletes points of series, and commits that.
func (s *Store) deleteAll(ctx context.Context, found *names.Set, from, to int64) (deleted int, err error) {
	var last wal.LSN
	for id := range found.All() {
		if err = ctx.Err(); err != nil {
			break
		}
		var ok bool
		var lsn wal.LSN
		ok, lsn, err = s.deleteOne(id, from, to)
		last = max(last, lsn)
		if ok {
			deleted++
		}
		if err != nil {
			break
		}
	}
	if last > 0 {
		err = errors.Join(err, s.log.Commit(ctx, last))
	}
	return deleted, err
}

func (s *Store) deleteOne(id names.ID, from, to int64) (bool, wal.LSN, error) {
	sh := s.shardOf(id)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	d, ok, err := sh.forest.Delete(id, from, to)
	if err != nil || !ok || s.log == nil {
		return ok, 0, err
	}
	sh.frame.reset(shardCount)
	sh.frame.deletion(id, d)
	lsn, err := s.log.Append(uint16(id%shardCount), sh.frame.buf)
	return ok, lsn, err
}

// DropSeries takes away the series that meet all matches, with all their points and their names, and returns how many
// there were. A series of the same name that is written to afterwards is a new one.
func (s *Store) DropSeries(ctx context.Context, where []names.Match) (int, error) {
	found, err := s.names.Find(ctx, where)
	if err != nil {
		return 0, err
	}
	s.life.RLock()
	defer s.life.RUnlock()
	if s.closed {
		return 0, ErrClosed
	}
	// Nobody finds a name that is gone, and no point comes for an ID without a name; then the trees may go. Without its
	// name a series is nothing, even if its points are found again by Open.
	ids := make([]names.ID, 0, found.Len())
	for id := range found.All() {
		ids = append(ids, id)
	}
	n, err := s.names.Delete(ids...)
	if err != nil {
		return n, err
	}
	for _, id := range ids {
		sh := s.shardOf(id)
		sh.mu.Lock()
		if slot := int(id / shardCount); slot < len(sh.kinds) {
			sh.kinds[slot] = dropped
		}
		err = errors.Join(err, sh.forest.Drop(id))
		sh.mu.Unlock()
	}
	if s.o.Sync == SyncAlways {
		return n, full(errors.Join(err, s.names.Sync()))
	}
	s.namesDropped.Store(true)
	return n, full(errors.Join(err, s.names.Flush()))
}
