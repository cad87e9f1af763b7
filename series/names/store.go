package names

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"weir/series/disk"
)

// ErrClosed is what a closed store answers to changes.
var ErrClosed = errors.New("the store of names is closed")

// flushSize is how many bytes of changes are gathered before they go to the file.
const flushSize = 256 << 10

// Store is an Index whose changes are kept in a directory: in one file, which
// begins with what there was when it was made and goes on with what was changed
// since. It is to be closed. No other program may have the directory open.
//
// Changes gather in memory. They are in the file after Flush, which outlives the
// program, and on the disk after Sync, which outlives the machine.
type Store struct {
	*Index
	fs  disk.FS
	dir string

	syncing sync.Mutex // held around what must not happen twice at once: sync, compact, close
	// All below is guarded by the index's own mutex.
	file       disk.File // nil once closed
	generation uint64
	end        int64 // of the file
	records    uint64
	synced     int64 // of the file
	failed     error // after which nothing can be known of the file anymore
	buf        []byte

	recovery Recovery
}

// Recovery is what Open found at the end of the file.
type Recovery struct {
	Path   string // of the file
	Offset int64  // where it ends now
	Cut    int64  // bytes that were cut off there, since they were not whole and never durable
	Reason error  // why; nil if nothing was cut
}

// Recovery tells what Open found.
func (s *Store) Recovery() Recovery { return s.recovery }

func fileName(dir string, generation uint64) string {
	return filepath.Join(dir, fmt.Sprintf("names-%08d.wsn", generation))
}

// latest is the generation of the newest file of names in dir, 0 if none.
func latest(fs disk.FS, dir string) (generation uint64, err error) {
	entries, err := fs.ReadDir(dir)
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		var g uint64
		if n, _ := fmt.Sscanf(e.Name, "names-%d.wsn", &g); n == 1 && fileName(dir, g) == filepath.Join(dir, e.Name) {
			generation = max(generation, g)
		}
	}
	return generation, nil
}

// Open opens the names in dir, which it creates where there is none. Damage is a
// *CorruptError; a torn tail is cut, and told by Recovery.
func Open(ctx context.Context, fs disk.FS, dir string) (*Store, error) {
	if err := fs.MkdirAll(dir); err != nil {
		return nil, fmt.Errorf("open names: %w", err)
	}
	// Which files there are may not be durable yet, if the program that made or removed one was stopped: a newer one must
	// neither vanish nor come back once this one is added to.
	if err := fs.SyncDir(dir); err != nil {
		return nil, fmt.Errorf("open names: %w", err)
	}
	generation, err := latest(fs, dir)
	if err != nil {
		return nil, fmt.Errorf("open names: %w", err)
	}
	s := &Store{Index: New(), fs: fs, dir: dir, generation: generation}
	if generation == 0 {
		err = s.rewrite(ctx)
	} else {
		err = s.load(ctx)
	}
	if err != nil {
		return nil, err
	}
	if s.wasteful() {
		// On a full disk it is left for another time.
		if err := s.renumber(ctx); err != nil && (s.failed != nil || !disk.IsFull(err)) {
			return nil, errors.Join(err, s.file.Close())
		}
	}
	s.room = s.makeRoom
	s.discard()
	return s, nil
}

func (s *Store) load(ctx context.Context) error {
	path := fileName(s.dir, s.generation)
	f, err := s.fs.OpenFile(path, os.O_RDWR)
	if err != nil {
		return fmt.Errorf("open names: %w", err)
	}
	c, err := readOpen(ctx, path, f, s.generation, s.Index)
	if err == nil {
		s.file, s.end, s.records, s.synced = f, c.end, c.records, c.end
		s.recovery = Recovery{path, c.end, c.size - c.end, c.reason}
		err = settle(f, c)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("open names: %w", err), f.Close())
	}
	return nil
}

func readOpen(ctx context.Context, path string, f disk.File, generation uint64, ix *Index) (contents, error) {
	size, err := f.Size()
	if err != nil {
		return contents{}, fmt.Errorf("read names %s: %w", path, err)
	}
	return readFile(ctx, path, f, size, generation, ix)
}

// settle makes a file what was read of it. It is on the disk at once: behind a new record, an old one must not come back.
// What no record says was durable is written again: if an fsync failed before, it may be in memory only and not to be
// written anymore.
func settle(f disk.File, c contents) error {
	if c.end != c.size {
		if err := f.Truncate(c.end); err != nil {
			return err
		}
	}
	buf := make([]byte, min(1<<20, c.end-c.durable))
	for off := c.durable; off < c.end; off += int64(len(buf)) {
		buf = buf[:min(int64(len(buf)), c.end-off)]
		if err := readAt(f, buf, off); err != nil {
			return err
		}
		if _, err := f.WriteAt(buf, off); err != nil {
			return err
		}
	}
	return f.Sync()
}

// wasteful reports whether a good part of the index belongs to deleted names.
func (s *Store) wasteful() bool {
	symbols := int(s.symbols.at.len())
	waste := symbols - s.lists.Used()
	if s.deleted.Load() > 0 {
		for id := range s.at.len() {
			if !s.live(ID(id)) && s.at.get(id) != noCode {
				waste++
			}
		}
	}
	return waste > (s.Len()+symbols)/4
}

// renumber puts an index and a file without what was deleted in the place of
// those that were opened.
func (s *Store) renumber(ctx context.Context) error {
	fresh := New()
	if err := s.export(flushSize, true, fresh.apply); err != nil {
		return fmt.Errorf("compact names: %w", err)
	}
	old := s.Index
	s.Index = fresh
	err := s.rewrite(ctx)
	if err != nil {
		s.Index = old
	}
	return err
}

// Read reads the names in dir as Open does, and changes nothing. The Recovery says what Open would cut off. With an
// error, which is a *CorruptError where there is damage, the index has the names before it.
func Read(ctx context.Context, fs disk.FS, dir string) (*Index, Recovery, error) {
	ix := New()
	generation, err := latest(fs, dir)
	if err != nil || generation == 0 {
		return ix, Recovery{}, err
	}
	path := fileName(dir, generation)
	f, err := fs.OpenFile(path, os.O_RDONLY)
	if err != nil {
		return ix, Recovery{}, err
	}
	c, err := readOpen(ctx, path, f, generation, ix)
	return ix, Recovery{path, c.end, c.size - c.end, c.reason}, errors.Join(err, f.Close())
}

// Verify reads the names in dir as Open does, changes nothing, and takes a torn
// tail for damage as well. It returns the number of names.
func Verify(ctx context.Context, fs disk.FS, dir string) (int, error) {
	ix, r, err := Read(ctx, fs, dir)
	if err == nil && r.Reason != nil {
		err = &CorruptError{r.Path, r.Offset, r.Reason}
	}
	return ix.Len(), err
}

// File is where the names are, and how many bytes of it count: behind what was flushed there may be others.
func (s *Store) File() (path string, size int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fileName(s.dir, s.generation), s.end
}

// Reserve sees to it that IDs below next are not given to new names: those that no name has yet become IDs without a
// name. It is for those who find IDs in use whose names were lost.
func (s *Store) Reserve(next ID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.Next() < next {
		if err := s.makeRoom(); err != nil {
			return err
		}
		count := min(uint32(next-s.Next()), maxSkip)
		if err := s.applySkip(count); err != nil {
			return err
		}
		s.pending = s.pending.skip(count)
	}
	return nil
}

// makeRoom refuses a change that could not be written. It runs with the
// index's mutex held.
func (s *Store) makeRoom() error {
	if s.file == nil {
		return ErrClosed
	}
	if s.failed != nil || len(s.pending) >= flushSize {
		return s.flush()
	}
	return nil
}

// flush writes what is pending. After a failure, as of a full disk, it is still
// pending, the file is as before, and a later call tries again.
func (s *Store) flush() error {
	switch {
	case s.file == nil:
		return ErrClosed
	case s.failed != nil:
		return s.failed
	case len(s.pending) == 0:
		return nil
	}
	if err := s.write(entriesRecord, s.pending); err != nil {
		return err
	}
	s.pending = s.pending[:0]
	return nil
}

func (s *Store) write(kind uint32, body []byte) error {
	s.buf = appendRecord(s.buf[:0], s.generation, record{kind: kind, number: s.records, synced: uint64(s.synced)}, body)
	if _, err := s.file.WriteAt(s.buf, s.end); err != nil {
		return errors.Join(fmt.Errorf("write names: %w", err), s.file.Truncate(s.end))
	}
	s.end += int64(len(s.buf))
	s.records++
	return nil
}

// Flush writes all changes to the file.
func (s *Store) Flush() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.flush()
}

// Sync writes all changes to the disk. Changes made meanwhile do not wait for it.
func (s *Store) Sync() error {
	s.syncing.Lock()
	defer s.syncing.Unlock()
	return s.sync()
}

func (s *Store) sync() error {
	s.mu.Lock()
	err := s.flush()
	file, end, synced := s.file, s.end, s.synced
	s.mu.Unlock()
	if err != nil || end == synced {
		return err
	}
	err = file.Sync()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		// The system may have dropped what it could not write, so that another try would lie.
		s.failed = fmt.Errorf("sync names in %s, which must be opened again: %w", s.dir, err)
		return s.failed
	}
	s.synced = end
	return nil
}

// Compact writes a new file without the names that were deleted, and drops the
// old one. Changes wait for it; reading goes on. Open does more of it by itself:
// where a good part belongs to deleted names, it frees their texts and memory.
func (s *Store) Compact(ctx context.Context) error {
	s.syncing.Lock()
	defer s.syncing.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return ErrClosed
	}
	if err := s.rewrite(ctx); err != nil {
		return err
	}
	s.pending = s.pending[:0]
	s.discard()
	return nil
}

// rewrite makes the file of the next generation from the index.
func (s *Store) rewrite(ctx context.Context) error {
	next := Store{Index: s.Index, fs: s.fs, generation: s.generation + 1, end: headerSize}
	path := fileName(s.dir, next.generation)
	err := next.create(ctx, path+".tmp")
	if err == nil {
		err = s.fs.Rename(path+".tmp", path)
	}
	if err == nil {
		err = s.fs.SyncDir(s.dir)
	}
	if err == nil {
		next.file, err = s.fs.OpenFile(path, os.O_RDWR)
	}
	if err != nil {
		err = fmt.Errorf("write names %s: %w", path, err)
		if s.withdraw(path) != nil {
			s.failed = err
		}
		return err
	}
	old := s.file
	s.file, s.generation, s.records, s.end, s.synced = next.file, next.generation, next.records, next.end, next.end
	s.failed = nil
	s.recovery.Path = path
	if old != nil {
		_ = old.Close() // nothing of it counts
	}
	return nil
}

// withdraw removes, durably, a new file that is not to be used. If it stayed or came back, it would be opened next, and
// what is written to the old one meanwhile not seen.
func (s *Store) withdraw(path string) error {
	for _, p := range []string{path + ".tmp", path} {
		if err := s.fs.Remove(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return s.fs.SyncDir(s.dir)
}

// create writes the index to a new file, durably.
func (s *Store) create(ctx context.Context, path string) (err error) {
	f, err := s.fs.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	s.file = f
	if _, err := f.WriteAt(fileHeader(s.generation), 0); err != nil {
		return err
	}
	err = s.export(flushSize, false, func(e entries) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return s.write(entriesRecord, e)
	})
	if err != nil {
		return err
	}
	s.synced = s.end
	if err := s.write(markRecord, nil); err != nil {
		return err
	}
	return f.Sync()
}

// discard removes files that are not the newest. What cannot be removed does no
// harm, and is tried again when the store is opened next.
func (s *Store) discard() {
	entries, err := s.fs.ReadDir(s.dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		path := filepath.Join(s.dir, e.Name)
		if strings.HasPrefix(e.Name, "names-") && path != fileName(s.dir, s.generation) &&
			(strings.HasSuffix(path, ".wsn") || strings.HasSuffix(path, ".wsn.tmp")) {
			_ = s.fs.Remove(path)
		}
	}
}

// Close makes all changes durable and closes the file. The index can still be
// read, but no longer changed.
func (s *Store) Close() error {
	s.syncing.Lock()
	defer s.syncing.Unlock()
	if s.file == nil {
		return nil
	}
	err := s.sync()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		// From here on, damage to any of the names is no torn tail.
		err = errors.Join(s.write(markRecord, nil), s.file.Sync())
	}
	err = errors.Join(err, s.file.Close())
	s.file = nil
	return err
}
