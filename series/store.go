package series

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"sync/atomic"

	"weir/series/disk"
	"weir/series/names"
	"weir/series/volume"
	"weir/series/wal"
)

// Store is a store that is open. Everything may be called at once, by any number of goroutines; each Writer is for one.
// It is to be closed.
type Store struct {
	dir  string
	fs   disk.FS
	o    Options
	lock io.Closer

	names        *names.Store
	namesThen    namesFile     // as the last checkpoint has it
	creating     sync.Mutex    // held while a series is made, where their number is limited
	namesDropped atomic.Bool   // since names were synced last
	namesKept    atomic.Uint64 // names of series below this ID are in their file
	volumes      *volume.Volumes
	log          *wal.Log // nil without a log
	shards       [shardCount]shard
	readers      readers
	recovery     Recovery
	manifest     manifest

	life   sync.RWMutex // read by those who change something, so that Close waits for them
	closed bool

	keeping          sync.Mutex // held while a checkpoint is written or the log is cut
	checkpointNumber uint64
	checkpointAt     uint64 // bytes that had been appended to the volumes at the last checkpoint
	checkpointSize   int64
	keeper           keeper
	cutBelow         uint32 // segments of the log below this one were cut

	compacting sync.Mutex // held while series are folded and volumes dropped; guards what follows
	damaged    map[names.ID]bool
}

// Open opens the store of a directory, which it makes where there is none. If the program that had it open was killed,
// what it had confirmed is read from its log, which takes as long as the log is; Recovery tells what was found. Damage
// is reported there, and to those who read what is damaged. Only one program may have a store open: the others get
// ErrLocked. A directory that holds something else is ErrNotStore. When ctx ends, so does Open.
func Open(ctx context.Context, dir string, o Options) (*Store, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	s := &Store{dir: filepath.Clean(dir), fs: o.FS, o: o}
	if err := s.open(ctx); err != nil {
		s.abandon()
		return nil, fmt.Errorf("open store %s: %w", dir, err)
	}
	s.keeper.start(s)
	return s, nil
}

// Recovery tells what Open found.
func (s *Store) Recovery() Recovery { return s.recovery }

// Sync makes everything durable that was committed.
func (s *Store) Sync(ctx context.Context) error {
	s.life.RLock()
	defer s.life.RUnlock()
	if s.closed {
		return ErrClosed
	}
	if s.log == nil {
		return full(s.toVolumes(ctx))
	}
	return full(errors.Join(s.names.Sync(), s.log.Sync(ctx)))
}

// toVolumes writes all points to volumes, and makes them durable.
func (s *Store) toVolumes(ctx context.Context) error {
	for i := range s.shards {
		if err := s.flushShard(ctx, &s.shards[i], ^uint32(0)); err != nil {
			return err
		}
	}
	if err := s.names.Sync(); err != nil {
		return err
	}
	_, err := s.volumes.Sync()
	return err
}

// Close writes all points to volumes, writes a checkpoint, removes the log and closes the store. After an error, as of
// a full disk, the store is closed as well, and what is not in volumes stays in the log. Answers that are being read end
// with ErrClosed.
func (s *Store) Close() error {
	s.life.Lock()
	if s.closed {
		s.life.Unlock()
		return nil
	}
	s.closed = true
	s.life.Unlock()
	s.keeper.stop()
	err := s.finish()
	return full(errors.Join(err, s.release(err == nil)))
}

// finish makes the volumes all there is.
func (s *Store) finish() error {
	t := newTeam(func(t task) error {
		sh := &s.shards[t.shard]
		sh.mu.Lock()
		defer sh.mu.Unlock()
		return sh.forest.CloseAll()
	})
	for i := range s.shards {
		if t.give(task{shard: i}) != nil {
			break
		}
	}
	if err := t.wait(); err != nil {
		return err
	}
	if s.recovery.Clean && s.checkpointNumber > 0 && s.volumes.Stats().Appends == 0 {
		return nil // the checkpoint that there is says all
	}
	if err := s.checkpoint(); err != nil {
		return err
	}
	segment := uint32(1)
	if s.log != nil {
		segment = s.log.Segment() + 1
	}
	return s.keepManifest(s.volumes.End(), segment)
}

// keepManifest says that the volumes are durable below an address.
func (s *Store) keepManifest(durable uint64, segment uint32) error {
	m := s.manifest
	m.durable, m.segment = durable, max(segment, m.segment)
	if err := m.write(s.fs, s.dir); err != nil {
		return err
	}
	s.manifest = m
	return nil
}

// release closes all files; the log is removed if all of it is elsewhere.
func (s *Store) release(clean bool) error {
	var err error
	join := func(e error) { err = errors.Join(err, e) }
	if s.log != nil {
		if clean {
			join(s.log.CloseEmpty())
		} else {
			join(s.log.Close())
		}
	}
	if s.names != nil {
		join(s.names.Close())
	}
	if s.volumes != nil {
		join(s.volumes.Close())
	}
	for i := range s.shards {
		sh := &s.shards[i]
		sh.mu.Lock()
		if sh.forest != nil {
			join(sh.forest.Release())
			sh.forest = nil
		}
		sh.mu.Unlock()
	}
	if s.lock != nil {
		join(s.lock.Close())
	}
	return err
}

// abandon closes what a failed Open had opened. It leaves the log.
func (s *Store) abandon() { _ = s.release(false) }

// Exists reports whether a directory has a store.
func Exists(dir string) bool {
	entries, err := disk.OS().ReadDir(dir)
	return err == nil && (hasEntry(entries, manifestName) || hasEntry(entries, "names"))
}
