package series

import (
	"context"
	"fmt"
	"sync"
	"time"

	"weir/series/tree"
)

// keeper does in the background what keeps memory, the log and the time that Open takes within their bounds.
type keeper struct {
	ctx    context.Context
	cancel context.CancelFunc
	done   sync.WaitGroup
}

const (
	keepEvery = 250 * time.Millisecond
	// turnTime is how long the clock of the trees stands still: what was not added to for some turns is cold.
	turnTime = 10 * time.Second
	// checkpointBytes is how much is appended to the volumes at least between checkpoints, and so what Open reads at
	// most, about.
	checkpointBytes = 256 << 20
	// checkpointShare is how many times the size of a checkpoint is appended at least, so that checkpoints are a small
	// part of what is written.
	checkpointShare = 8
)

func (k *keeper) start(s *Store) {
	k.ctx, k.cancel = context.WithCancel(context.Background())
	k.done.Go(func() { s.compact(k.ctx) })
	k.done.Go(func() {
		tick := time.NewTicker(keepEvery)
		defer tick.Stop()
		turn := time.Now()
		for {
			select {
			case <-k.ctx.Done():
				return
			case <-tick.C:
			}
			if now := time.Now(); now.Sub(turn) >= turnTime {
				turn = now
				s.turn()
			}
			for _, step := range []func() error{s.keepMemory, s.keepDropped, s.keepLog, s.keepCheckpoint} {
				if err := step(); err != nil && k.ctx.Err() == nil {
					s.o.OnProblem(err)
					k.pause()
				}
			}
		}
	})
}

// pause waits after something went wrong, which often goes on for a while.
func (k *keeper) pause() {
	select {
	case <-k.ctx.Done():
	case <-time.After(time.Second):
	}
}

func (k *keeper) stop() {
	k.cancel()
	k.done.Wait()
}

func (s *Store) turn() {
	for i := range s.shards {
		sh := &s.shards[i]
		sh.mu.Lock()
		sh.forest.Tick()
		sh.mu.Unlock()
	}
}

// budget is how many bytes what is open of series may take.
func (s *Store) budget() int64 {
	if s.o.Memory > 0 {
		return s.o.Memory
	}
	return 40<<20 + 800*int64(s.names.Next())
}

// generous is how many times the budget limits are for as long as there is room: series with few points take much less
// than those that have gone on for long, and make better leaves then.
const generous = 3

// keepMemory sets what series may take, and closes the coldest if all of them take too much.
func (s *Store) keepMemory() error {
	budget, n := s.budget(), int(s.names.Next())
	used := int64(0)
	for i := range s.shards {
		sh := &s.shards[i]
		sh.mu.Lock()
		used += int64(sh.forest.Memory())
		sh.mu.Unlock()
	}
	limits := tree.LimitsFor(budget, n)
	if used < budget-budget/12 {
		limits = tree.LimitsFor(generous*budget, n)
	}
	for i := range s.shards {
		sh := &s.shards[i]
		sh.mu.Lock()
		sh.forest.SetLimits(limits)
		sh.mu.Unlock()
	}
	// Those that nothing was added to for longer go first; at last, all.
	for _, turns := range []uint32{360, 60, 12, 3, 1, 0} {
		if used <= budget {
			break
		}
		for i := range s.shards {
			freed, err := s.closeCold(&s.shards[i], turns, int((used-budget)/int64(shardCount-i))+1)
			if err != nil {
				return fmt.Errorf("closing series for want of memory: %w", err)
			}
			if used -= int64(freed); used <= budget {
				break
			}
		}
	}
	return nil
}

// closeCold closes cold series of a shard until so many bytes less are in use.
func (s *Store) closeCold(sh *shard, turns uint32, bytes int) (freed int, err error) {
	for page, more := 0, true; more && freed < bytes; page++ {
		var n int
		sh.mu.Lock()
		n, more, err = sh.forest.CloseColdPage(turns, bytes-freed, page)
		sh.mu.Unlock()
		if freed += n; err != nil {
			break
		}
	}
	return freed, err
}

// keepDropped makes names durable that were taken away, of which the log knows nothing.
func (s *Store) keepDropped() error {
	if s.o.Sync != SyncInterval || !s.namesDropped.Swap(false) {
		return nil
	}
	if err := s.names.Sync(); err != nil {
		s.namesDropped.Store(true)
		return fmt.Errorf("syncing names: %w", err)
	}
	return nil
}

// keepLog cuts the log where it is too long: what its first half has is written to volumes.
func (s *Store) keepLog() error {
	if s.log == nil || s.log.Size() <= s.o.LogSize || !s.keeping.TryLock() {
		return nil // a backup may take long: another time
	}
	defer s.keeping.Unlock()
	limit := s.log.Segment()
	if n := uint32(s.o.LogSize / 2 / s.o.segment); limit > n {
		limit -= n
	}
	if limit <= s.cutBelow {
		return nil
	}
	for i := range s.shards {
		if err := s.flushShard(s.keeper.ctx, &s.shards[i], limit); err != nil {
			return fmt.Errorf("cutting the log: %w", err)
		}
	}
	// Names first: a point that is durable in a volume is nothing without the name of its series.
	if err := s.names.Sync(); err != nil {
		return fmt.Errorf("cutting the log: %w", err)
	}
	durable, err := s.volumes.Sync()
	if err == nil {
		err = s.keepManifest(durable, limit)
	}
	if err == nil {
		err = s.log.Release(limit)
	}
	if err != nil {
		return fmt.Errorf("cutting the log: %w", err)
	}
	s.cutBelow = limit
	return nil
}

// flushShard writes the points of a shard to volumes whose oldest is in a segment of the log before limit.
func (s *Store) flushShard(ctx context.Context, sh *shard, limit uint32) error {
	for page, more := 0, true; more; page++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		var err error
		sh.mu.Lock()
		more, err = sh.forest.FlushOlderPage(limit, page)
		sh.mu.Unlock()
		if err != nil {
			return err
		}
	}
	return nil
}

// keepCheckpoint writes a checkpoint if much was written since the last one.
func (s *Store) keepCheckpoint() error {
	if !s.keeping.TryLock() {
		return nil
	}
	defer s.keeping.Unlock()
	if s.volumes.Stats().AppendBytes-s.checkpointAt < uint64(max(checkpointBytes, checkpointShare*s.checkpointSize)) {
		return nil
	}
	if err := s.writeCheckpoint(); err != nil {
		return fmt.Errorf("writing a checkpoint: %w", err)
	}
	return nil
}
