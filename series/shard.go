package series

import (
	"fmt"
	"sync"

	"weir/series/names"
	"weir/series/tree"
)

// shard is the series whose IDs leave the same rest when divided by shardCount.
type shard struct {
	mu     sync.Mutex
	forest *tree.Forest // nil once the store is closed
	kinds  []kind       // by slot
	frame  encoder
}

// kind is what is known of a series.
type kind uint8

const (
	unknown kind = iota
	numbers
	events
	dropped // it has no name anymore
)

// kindOf is the kind of a series, whose shard is locked.
func (s *Store) kindOf(sh *shard, id names.ID) kind {
	slot := int(id / shardCount)
	if slot < len(sh.kinds) && sh.kinds[slot] != unknown {
		return sh.kinds[slot]
	}
	if id >= s.names.Next() {
		return dropped
	}
	k := numbers
	if name := s.names.Name(id); name == "" {
		k = dropped
	} else if names.IsEvent(name) {
		k = events
	}
	if slot >= len(sh.kinds) {
		sh.kinds = append(sh.kinds, make([]kind, slot+1-len(sh.kinds))...)
	}
	sh.kinds[slot] = k
	return k
}

// refuse says why a point cannot be one of a series; nil if it can.
func (s *Store) refuse(sh *shard, id names.ID, event bool) error {
	switch k := s.kindOf(sh, id); {
	case k == dropped:
		return fmt.Errorf("there is no series %d", id)
	case k == events && !event:
		return fmt.Errorf("a number for series %q, which has events", s.names.Name(id))
	case k == numbers && event:
		return fmt.Errorf("an event for series %q, which has numbers: metrics of events begin with '!'", s.names.Name(id))
	}
	return nil
}

// shardOf is the shard of a series.
func (s *Store) shardOf(id names.ID) *shard { return &s.shards[id%shardCount] }

// view is a series as it is now, for somebody who reads it until the reading ends.
func (s *Store) view(id names.ID, from, to int64) (*tree.View, reading, error) {
	r := s.readers.begin()
	sh := s.shardOf(id)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if sh.forest == nil {
		r.end()
		return nil, r, ErrClosed
	}
	return sh.forest.View(id, from, to), r, nil
}
