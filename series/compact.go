package series

import (
	"context"
	"errors"
	"fmt"
	"time"

	"weir/series/names"
	"weir/series/node"
	"weir/series/tree"
	"weir/series/volume"
)

// Series are folded one after the other, while they are written to and read: see tree.Fold. It brings together what late
// points, deletions and many small leaves have scattered. What is not needed anymore then is dropped as whole volumes,
// the oldest first; where little of the oldest volume is still needed, it is written again.

const (
	compactEvery  = time.Second
	examineAtOnce = 50_000      // series a second
	spareEvery    = time.Minute // how often old volumes are looked at
	waitReaders   = 5 * time.Second

	// A point takes about so many bytes at least and at most, where it is not known what it takes.
	leastPoint, mostPoint = 3, 12
)

// worth reports whether to fold a series that is in use. What is in order and below full nodes stays as it is, so that
// this costs what has changed, about.
func worth(x tree.Fragments) bool {
	return x.Late >= 512 || x.Lanes >= 8 || x.Small >= 16 && x.Small >= x.Leaves/2 || x.Deletions >= 16
}

// scattered reports whether folding a series changes anything worth mentioning.
func scattered(x tree.Fragments) bool {
	return x.Lanes > 0 || x.Waiting > 0 || x.Deletions > 0 || x.Small > 1 && x.Small >= x.Leaves/4
}

// Compact forgets what is too old, folds all series of which there is something to gain, and drops or writes again old
// volumes of which little is needed. The store does so by itself, more lazily. What was done is durable when Compact
// returns. progress, if it is not nil, is called with how many series were looked at and how many there are.
func (s *Store) Compact(ctx context.Context, progress func(done, total int64)) error {
	s.life.RLock()
	defer s.life.RUnlock()
	if s.closed {
		return ErrClosed
	}
	s.compacting.Lock()
	defer s.compacting.Unlock()
	if err := s.retain(ctx, time.Now()); err != nil {
		return full(err)
	}
	next := s.names.Next()
	for id := range next {
		if err := s.foldIf(ctx, id, scattered, tree.FoldOptions{}); err != nil {
			return full(err)
		}
		if progress != nil && (id%256 == 0 || id+1 == next) {
			progress(int64(id)+1, int64(next))
		}
	}
	if err := s.spare(ctx); err != nil {
		return full(err)
	}
	return full(s.checkpoint()) // or a crash would undo what was the work of hours, perhaps
}

// foldIf folds a series if something is true of its fragments. What is damaged is left as it is.
func (s *Store) foldIf(ctx context.Context, id names.ID, wanted func(tree.Fragments) bool, o tree.FoldOptions) error {
	sh := s.shardOf(id)
	sh.mu.Lock()
	x := sh.forest.Fragmented(id)
	sh.mu.Unlock()
	if !wanted(x) || s.damaged[id] {
		return nil
	}
	_, err := s.fold(ctx, id, o)
	switch {
	case err == nil || ctx.Err() != nil:
		return ctx.Err()
	case !isDamage(err):
		return err
	}
	s.setDamaged(id, fmt.Errorf("folding series %q: %w", s.names.Name(id), err))
	return nil
}

// isDamage reports whether an error is of nodes that are not as they were written, and will not be.
func isDamage(err error) bool {
	var damage *volume.CorruptError
	return errors.As(err, &damage) || errors.Is(err, node.ErrCorrupt)
}

// setDamaged leaves a series alone from now on, and tells of it once.
func (s *Store) setDamaged(id names.ID, err error) {
	if s.damaged == nil {
		s.damaged = map[names.ID]bool{}
	}
	s.damaged[id] = true
	s.o.OnProblem(err)
}

// fold folds a series, and reports whether it did: not if somebody deleted points of it meanwhile.
func (s *Store) fold(ctx context.Context, id names.ID, o tree.FoldOptions) (bool, error) {
	sh := s.shardOf(id)
	sh.mu.Lock()
	x, err := sh.forest.BeginFold(id, o)
	sh.mu.Unlock()
	if err != nil {
		return false, err
	}
	err = x.Run(ctx)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	ok, e := sh.forest.EndFold(x)
	return ok, errors.Join(err, e)
}

// oldestNode is the lowest address that any series needs.
func (s *Store) oldestNode() uint64 {
	oldest := s.volumes.End()
	for i := range s.shards {
		sh := &s.shards[i]
		sh.mu.Lock()
		oldest = min(oldest, sh.forest.OldestNode())
		sh.mu.Unlock()
	}
	return oldest
}

// spare drops the oldest volumes of which nothing is needed, after what little is needed of others was written again.
func (s *Store) spare(ctx context.Context) error {
	last := s.volumes.End() >> 40 // what is written now is not looked at
	for {
		oldest := s.oldestNode()
		if err := s.dropBelow(ctx, oldest); err != nil || oldest>>40 >= last {
			return err
		}
		rewritten, err := s.vacate(ctx, oldest)
		if err != nil || !rewritten {
			return err
		}
		if s.oldestNode() <= oldest {
			return nil
		}
	}
}

// dropBelow drops the volumes that are wholly below an address, below which no series needs anything, unless somebody
// goes on reading from them for long.
func (s *Store) dropBelow(ctx context.Context, oldest uint64) error {
	var old []uint64
	for _, v := range s.volumes.List() {
		if v.End <= oldest && v.Number < s.volumes.End()>>40 {
			old = append(old, v.Number)
		}
	}
	if len(old) == 0 {
		return nil
	}
	turn := s.readers.next()
	for wait := time.Millisecond; !s.readers.gone(turn); wait *= 2 {
		if wait > waitReaders {
			return nil // another time
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
	// That nothing needs them is in no checkpoint yet, and may be in no volume that is durable.
	if err := s.checkpoint(); err != nil {
		return err
	}
	for _, number := range old {
		if err := s.volumes.Drop(number); err != nil {
			return err
		}
	}
	return nil
}

// vacate writes again what is needed of the oldest volume, if that is not much. It reports whether it did.
func (s *Store) vacate(ctx context.Context, oldest uint64) (bool, error) {
	volumes := s.volumes.List()
	if len(volumes) < 2 || s.o.Volumes > 0 {
		return false, nil
	}
	number := oldest >> 40
	end, size, all := uint64(0), int64(0), int64(0)
	for _, v := range volumes {
		all += v.Used
		if v.Number == number {
			end, size = v.End, v.Used
		}
	}
	if end == 0 || number >= s.volumes.End()>>40 {
		return false, nil
	}
	var needing []names.ID
	points, allPoints := uint64(0), uint64(0)
	for id := range s.names.Next() {
		sh := s.shardOf(id)
		sh.mu.Lock()
		x := sh.forest.Fragmented(id)
		sh.mu.Unlock()
		allPoints += x.Points
		if x.Oldest != 0 && x.Oldest < end {
			needing = append(needing, id)
			points += x.Points
		}
	}
	// What all points take on average is too much where there is much that is not needed.
	pointBytes := min(max(leastPoint, float64(all)/float64(max(allPoints, 1))), mostPoint)
	if float64(points)*pointBytes > float64(size)/2 {
		return false, nil
	}
	for _, id := range needing {
		if err := s.foldIf(ctx, id, func(x tree.Fragments) bool { return x.Oldest < end }, tree.FoldOptions{Keep: true, From: end}); err != nil {
			return true, err
		}
	}
	return true, nil
}

// compact is what the store does by itself until ctx ends.
func (s *Store) compact(ctx context.Context) {
	tick := time.NewTicker(compactEvery)
	defer tick.Stop()
	var at names.ID
	var spared, retained time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err := s.compactSome(ctx, &at)
		if now := time.Now(); err == nil && now.Sub(retained) >= s.retainEvery() {
			retained = now
			s.compacting.Lock()
			err = s.retain(ctx, now)
			s.compacting.Unlock()
		}
		if now := time.Now(); err == nil && now.Sub(spared) >= spareEvery {
			spared = now
			s.compacting.Lock()
			err = s.spare(ctx)
			s.compacting.Unlock()
		}
		if err != nil && ctx.Err() == nil {
			s.o.OnProblem(fmt.Errorf("compaction: %w", full(err)))
			s.keeper.pause()
		}
	}
}

// compactSome looks at the next series.
func (s *Store) compactSome(ctx context.Context, at *names.ID) error {
	s.compacting.Lock()
	defer s.compacting.Unlock()
	next := s.names.Next()
	for range min(examineAtOnce, int(next)) {
		if *at >= next {
			*at = 0
		}
		if err := s.foldIf(ctx, *at, worth, tree.FoldOptions{Keep: true}); err != nil {
			return err
		}
		*at++
	}
	return nil
}

// retainEvery is how often points that are too old are looked for.
func (s *Store) retainEvery() time.Duration {
	every := time.Hour
	for _, r := range s.o.Retention {
		every = min(every, r.Age/32)
	}
	return max(every, time.Second)
}

// retain forgets points that are older than Options.Retention allows, as far as whole nodes are. Of series of which
// several rules speak, the shortest age counts. It is called with compacting held.
func (s *Store) retain(ctx context.Context, now time.Time) error {
	for _, rule := range s.o.Retention {
		before := now.Add(-rule.Age).UnixNano()
		found, err := s.names.Find(ctx, rule.Where)
		if err != nil {
			return err
		}
		for id := range found.All() {
			sh := s.shardOf(id)
			sh.mu.Lock()
			_, err := sh.forest.Trim(id, before)
			sh.mu.Unlock()
			switch {
			case err == nil || s.damaged[id]:
			case isDamage(err):
				s.setDamaged(id, fmt.Errorf("forgetting old points of series %q: %w", s.names.Name(id), err))
			default:
				return err
			}
		}
	}
	return nil
}
