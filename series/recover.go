package series

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"weir/series/disk"
	"weir/series/names"
	"weir/series/node"
	"weir/series/tree"
	"weir/series/volume"
	"weir/series/wal"
)

// Recovery is what Open found.
type Recovery struct {
	Clean   bool          // the store had been closed, and nothing had to be read again
	Nodes   uint64        // nodes that were read from volumes since no checkpoint knew of them
	Entries uint64        // points and deletions that were read from the log
	Added   uint64        // those of them that were not in volumes
	Unnamed uint64        // those of them that were dropped since the names of their series were never durable
	Took    time.Duration // how long Open took

	Cut    []Cut           // what was being written when the machine stopped
	Damage []*CorruptError // what was once whole

	mu *sync.Mutex
}

// Cut is the end of a file that was cut off, since it was not whole and had never been confirmed as durable.
type Cut struct {
	Path   string
	Offset int64 // where the file ends now
	Bytes  int64
}

func newMutex() *sync.Mutex { return &sync.Mutex{} }

// maxDamage is how many places are listed in Recovery.Damage.
const maxDamage = 1000

func (r *Recovery) damage(e *CorruptError) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.Damage) < maxDamage {
		r.Damage = append(r.Damage, e)
	}
}

func (s *Store) open(ctx context.Context) error {
	begin := time.Now()
	s.recovery.mu = newMutex()
	known, err := s.openDirectory()
	if err != nil {
		return err
	}
	s.volumes, err = volume.Open(s.fs, filepath.Join(s.dir, "volumes"), volume.Options{Size: s.o.VolumeSize, Count: s.o.Volumes, Reserve: s.o.Reserve})
	if err != nil {
		return err
	}
	if err := s.newForests(); err != nil {
		return err
	}
	var loaded sync.WaitGroup
	var namesErr error
	loaded.Go(func() { namesErr = s.openNames(ctx) })
	from, durable, err := s.loadCheckpoint()
	loaded.Wait()
	if err != nil {
		return err
	}
	if err := s.checkNames(ctx, namesErr); err != nil {
		return err
	}
	switch {
	case known:
		durable = max(durable, s.manifest.durable, 1)
	case durable == 0 && len(s.volumes.List()) == 0:
		durable = 1
	}
	highest, err := s.readVolumes(ctx, from, durable)
	if err != nil {
		return err
	}
	if err := s.keepMemory(); err != nil {
		return err
	}
	inLog, err := s.readLog(ctx)
	if err != nil {
		return err
	}
	if err := s.names.Reserve(max(highest, inLog)); err != nil {
		return err
	}
	s.namesKept.Store(uint64(s.names.Next()))
	if err := s.dropNameless(); err != nil {
		return err
	}
	r := &s.recovery
	r.Clean = r.Nodes == 0 && r.Entries == 0 && len(r.Cut) == 0 && len(r.Damage) == 0
	r.Took = time.Since(begin)
	return nil
}

// openDirectory makes the directory a store, or finds that it is one and locks it. It reports whether what the manifest
// says is known.
func (s *Store) openDirectory() (known bool, err error) {
	if err := s.fs.MkdirAll(s.dir); err != nil {
		return false, err
	}
	_, err = readManifest(s.fs, s.dir)
	entries, e := s.fs.ReadDir(s.dir)
	if e != nil {
		return false, e
	}
	if hasEntry(entries, unfinished) {
		return false, errUnfinished
	}
	var damage *CorruptError
	switch {
	case err == nil:
	case errors.As(err, &damage):
	case !errors.Is(err, fs.ErrNotExist):
		return false, err
	case hasEntry(entries, "names") && hasEntry(entries, "volumes"):
		damage = &CorruptError{Path: filepath.Join(s.dir, manifestName), What: "the manifest", Err: err}
	case slices.ContainsFunc(entries, foreign):
		return false, fmt.Errorf("%w: it is not empty, and there is no %s in it", ErrNotStore, manifestName)
	}
	if s.lock, e = s.fs.Lock(filepath.Join(s.dir, "lock")); e != nil {
		return false, e
	}
	// Whoever had the lock may have changed it, or made it.
	if s.manifest, e = readManifest(s.fs, s.dir); e == nil || err == nil {
		if e == nil && s.o.KeepLast && !s.manifest.keepLast {
			e = ErrKeepsAll
		}
		return true, e
	}
	if damage != nil {
		s.recovery.damage(damage)
	}
	s.manifest = manifest{created: time.Now().UnixNano(), segment: 1, keepLast: s.o.KeepLast}
	return damage == nil, s.manifest.write(s.fs, s.dir)
}

func hasEntry(entries []disk.Entry, name string) bool {
	return slices.ContainsFunc(entries, func(e disk.Entry) bool { return e.Name == name })
}

var errUnfinished = fmt.Errorf("%w: it is a copy that was not finished", ErrNotStore)

// foreign reports whether a file is none that a store leaves before it has a manifest.
func foreign(e disk.Entry) bool { return e.Name != "lock" && !isTemporary(e.Name) }

func (s *Store) cut(path string, offset, bytes int64) {
	s.recovery.mu.Lock()
	defer s.recovery.mu.Unlock()
	s.recovery.Cut = append(s.recovery.Cut, Cut{path, offset, bytes})
}

// readVolumes gives the trees the nodes that no checkpoint knows of. It returns an ID above all that nodes have.
func (s *Store) readVolumes(ctx context.Context, from, durable uint64) (highest names.ID, err error) {
	t := newTeam(func(t task) error {
		if err := s.shards[t.shard].forest.Restore(t.at, t.length, t.payload); err != nil {
			s.recovery.damage(&CorruptError{Path: filepath.Join(s.dir, "volumes"), Offset: int64(t.at), Length: int64(t.length), What: "a tree", Err: err})
		}
		return nil
	})
	r, err := s.volumes.Recover(from, durable, func(at uint64, length int, payload []byte) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		h, _, err := node.DecodeHeader(payload)
		if err != nil {
			s.recovery.damage(&CorruptError{Path: filepath.Join(s.dir, "volumes"), Offset: int64(at), Length: int64(length), What: "a node", Err: err})
			return nil
		}
		highest = max(highest, h.Series+1)
		s.recovery.Nodes++
		return t.give(task{shard: int(h.Series % shardCount), at: at, length: length, payload: slices.Clone(payload)})
	}, func(e *volume.CorruptError) {
		s.recovery.damage(&CorruptError{Path: e.Path, Offset: e.Offset, Length: e.Length, What: "a volume", Err: e.Err})
	})
	if e := t.wait(); err == nil {
		err = e
	}
	if err == nil && r.Cut > 0 {
		s.cut(r.Path, r.Offset, r.Cut)
	}
	return highest, err
}

// readLog opens the log, and adds what is in it and in no node. It returns an ID above all that are in it. A store that
// is opened without a log may have one from before: what is in it goes to volumes, and it is removed.
func (s *Store) readLog(ctx context.Context) (names.ID, error) {
	dir := filepath.Join(s.dir, "log")
	log, err := wal.Open(s.fs, dir, wal.Options{
		Sync: s.o.Sync.wal(), Interval: s.o.SyncInterval, SegmentSize: s.o.segment, First: max(1, s.manifest.segment),
		Reserve:    s.o.logReserve(),
		OnError:    s.o.OnProblem,
		BeforeSync: s.names.Sync,
		Damaged: func(e *wal.CorruptError) {
			s.recovery.damage(&CorruptError{Path: e.Path, Offset: e.Offset, What: "the log", Err: e.Err})
		},
	})
	if err != nil {
		return 0, err
	}
	s.log = log
	var highest, entries, added, unnamed atomic.Uint64
	next := s.names.Next()
	t := newTeam(func(t task) error {
		sh := &s.shards[t.shard]
		err := decodeFrame(t.payload, func(e entry) error {
			entries.Add(1)
			if int(e.id%shardCount) != t.shard {
				return fmt.Errorf("%w: series %d in a frame of shard %d", errRecord, e.id, t.shard)
			}
			if e.id >= next {
				unnamed.Add(1)
				raise(&highest, uint64(e.id)+1)
				return nil
			}
			ok, err := s.again(sh, e, t.segment)
			if ok {
				added.Add(1)
			}
			return err
		})
		if errors.Is(err, errRecord) {
			s.recovery.damage(&CorruptError{Path: dir, What: "a frame of the log", Err: err})
			err = nil
		}
		return err
	})
	r, err := log.Replay(func(f wal.Frame) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if f.Stream >= shardCount {
			return fmt.Errorf("%w: of shard %d", errRecord, f.Stream)
		}
		return t.give(task{shard: int(f.Stream), payload: slices.Clone(f.Payload), segment: f.Segment})
	})
	if e := t.wait(); err == nil {
		err = e
	}
	if err != nil {
		return 0, fmt.Errorf("read the log: %w", err)
	}
	if r.Cut > 0 {
		s.cut(r.Path, r.Offset, r.Cut)
	}
	s.recovery.Entries, s.recovery.Added, s.recovery.Unnamed = entries.Load(), added.Load(), unnamed.Load()
	if s.o.NoLog {
		s.log = nil
		if err := s.toVolumes(ctx); err != nil {
			s.log = log
			return 0, err
		}
		if err := log.CloseEmpty(); err != nil {
			return 0, err
		}
	}
	return names.ID(highest.Load()), nil
}

// dropNameless forgets what was found of series that have no name anymore, or never had one that was durable.
func (s *Store) dropNameless() error {
	next := s.names.Next()
	if s.names.Len() == int(next) {
		return nil
	}
	var name []byte
	for id := range next {
		if name = s.names.AppendName(name[:0], id); len(name) == 0 {
			if err := s.shardOf(id).forest.Drop(id); err != nil {
				return err
			}
		}
	}
	return nil
}

// raise makes a at least x.
func raise(a *atomic.Uint64, x uint64) {
	for {
		old := a.Load()
		if old >= x || a.CompareAndSwap(old, x) {
			return
		}
	}
}

// again adds an entry of the log to its tree, unless it is there. Series that were dropped are left out.
func (s *Store) again(sh *shard, e entry, segment uint32) (bool, error) {
	kind := s.kindOf(sh, e.id)
	switch {
	case kind == dropped:
		return false, nil
	case e.deletion != nil:
		return true, sh.forest.DeleteAgain(e.id, *e.deletion)
	case kind == events && e.text == nil || kind == numbers && e.text != nil:
		return false, fmt.Errorf("%w: a point of another kind than series %d has", errRecord, e.id)
	}
	return sh.forest.Again(e.id, e.time, e.value, e.text, e.place, segment)
}

var _ tree.Volumes = (*volume.Volumes)(nil)
