package series

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"weir/series/disk"
)

// unfinished is the name of a file that says that a directory is a copy that is not whole.
const unfinished = "unfinished-copy"

// Backup copies the store to a directory while it is in use: what was committed before the call is in the copy, and of
// what is committed meanwhile, some. The copy is a store itself. If dst is an earlier copy of the same store, only what
// is not in it is copied. progress, if it is not nil, is called with how many bytes were copied, and how many there are.
func (s *Store) Backup(ctx context.Context, dst string, progress func(done, total int64)) error {
	s.life.RLock()
	defer s.life.RUnlock()
	if s.closed {
		return ErrClosed
	}
	// No checkpoint, and no cutting of the log: what is not in the volumes that are copied first is in the log that is
	// copied last.
	s.keeping.Lock()
	defer s.keeping.Unlock()
	c := copier{fs: s.fs, src: s.dir, dst: filepath.Clean(dst), progress: progress}
	if err := c.prepare(s.manifest); err != nil {
		return fmt.Errorf("back up %s to %s: %w", s.dir, dst, err)
	}
	defer c.lock.Close()
	err := s.settle(ctx)
	if err == nil {
		err = c.list("volumes", "", "log", "names")
	}
	if err == nil {
		err = c.run(ctx)
	}
	if err != nil {
		return fmt.Errorf("back up %s to %s: %w", s.dir, dst, err)
	}
	return nil
}

// settle sees to it that everything that was committed is in files.
func (s *Store) settle(ctx context.Context) error {
	if s.log == nil {
		return s.toVolumes(ctx)
	}
	return errors.Join(s.names.Flush(), s.volumes.Flush(), s.log.Sync(ctx))
}

// Restore copies a backup, or another store that is not open, to a directory that is empty or does not exist, and
// verifies the copy.
func Restore(ctx context.Context, src, dst string, progress func(done, total int64)) (*VerifyReport, error) {
	return restore(ctx, disk.OS(), src, dst, progress)
}

func restore(ctx context.Context, f disk.FS, src, dst string, progress func(done, total int64)) (*VerifyReport, error) {
	m, err := readManifest(f, src)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: there is no %s in it", ErrNotStore, manifestName)
	}
	if err == nil {
		_, err = f.Size(filepath.Join(src, unfinished))
		if err == nil {
			err = fmt.Errorf("%w: it is a copy that was not finished", ErrNotStore)
		} else if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("restore %s: %w", src, err)
	}
	lock, err := f.Lock(filepath.Join(src, "lock"))
	if err != nil {
		return nil, fmt.Errorf("restore %s: %w", src, err)
	}
	defer lock.Close()
	c := copier{fs: f, src: filepath.Clean(src), dst: filepath.Clean(dst), progress: progress, fresh: true}
	if err := c.prepare(m); err != nil {
		return nil, fmt.Errorf("restore %s to %s: %w", src, dst, err)
	}
	defer c.lock.Close()
	if err = c.list("volumes", "", "log", "names"); err == nil {
		err = c.run(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("restore %s to %s: %w", src, dst, err)
	}
	if err := c.lock.Close(); err != nil {
		return nil, fmt.Errorf("restore %s to %s: %w", src, dst, err)
	}
	return verify(ctx, f, dst, nil)
}

// copier copies the files of a store.
type copier struct {
	fs       disk.FS
	src, dst string
	fresh    bool // dst must be empty
	doubtful bool // an earlier copy was not finished: what is there may not be durable
	lock     io.Closer
	progress func(done, total int64)

	gone        string // the name of the last volume that was not there anymore
	files       []copied
	done, total int64
	buf         []byte
}

type copied struct {
	dir, name string
	size      int64
}

// prepare makes the directory ready, and marks it as not whole.
func (c *copier) prepare(of manifest) (err error) {
	if err := c.fs.MkdirAll(c.dst); err != nil {
		return err
	}
	entries, err := c.fs.ReadDir(c.dst)
	if err != nil {
		return err
	}
	// Nobody has it open, the store itself least of all.
	if c.lock, err = c.fs.Lock(filepath.Join(c.dst, "lock")); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.lock.Close())
		}
	}()
	c.doubtful = hasEntry(entries, unfinished)
	if slices.ContainsFunc(entries, foreign) {
		m, err := readManifest(c.fs, c.dst)
		switch {
		case c.fresh:
			return errors.New("the directory is not empty")
		case errors.Is(err, fs.ErrNotExist) && c.doubtful: // the first copy did not get so far
		case errors.Is(err, fs.ErrNotExist):
			return errors.New("the directory is not empty, and not an earlier copy")
		case err != nil:
			return err
		case m.created != of.created:
			return errors.New("the directory has a copy of another store")
		}
	}
	for _, dir := range []string{"volumes", "names", "log"} {
		if err := c.fs.MkdirAll(filepath.Join(c.dst, dir)); err != nil {
			return err
		}
	}
	mark, err := c.fs.OpenFile(filepath.Join(c.dst, unfinished), os.O_RDWR|os.O_CREATE)
	if err != nil {
		return err
	}
	return errors.Join(mark.Sync(), mark.Close(), c.fs.SyncDir(c.dst))
}

// list finds what is to be copied, in the order in which it is.
func (c *copier) list(dirs ...string) error {
	for _, dir := range dirs {
		entries, err := c.fs.ReadDir(filepath.Join(c.src, dir))
		if err != nil {
			return err
		}
		for _, e := range entries {
			if !e.Dir && !isTemporary(e.Name) && e.Name != "lock" {
				c.files = append(c.files, copied{dir, e.Name, e.Size})
				c.total += e.Size
			}
		}
	}
	return nil
}

func (c *copier) run(ctx context.Context) error {
	for i, file := range c.files {
		// The last volume is written to; the others stay as they are.
		last := i+1 == len(c.files) || c.files[i+1].dir != "volumes"
		if err := c.copy(ctx, file, file.dir == "volumes" && !last); err != nil {
			return err
		}
	}
	// A ring may have gone on meanwhile: what is older than what is gone would be in front of a gap.
	c.files = slices.DeleteFunc(c.files, func(f copied) bool { return f.dir == "volumes" && f.name <= c.gone })
	if err := c.removeOthers(); err != nil {
		return err
	}
	for _, dir := range []string{"volumes", "names", "log", ""} {
		if err := c.fs.SyncDir(filepath.Join(c.dst, dir)); err != nil {
			return err
		}
	}
	if err := c.fs.Remove(filepath.Join(c.dst, unfinished)); err != nil {
		return err
	}
	return c.fs.SyncDir(c.dst)
}

// removeOthers removes what an earlier copy had and this one has not.
func (c *copier) removeOthers() error {
	for _, dir := range []string{"", "volumes", "names", "log"} {
		entries, err := c.fs.ReadDir(filepath.Join(c.dst, dir))
		if err != nil {
			return err
		}
		for _, e := range entries {
			known := e.Dir || e.Name == unfinished || e.Name == "lock" ||
				slices.ContainsFunc(c.files, func(f copied) bool { return f.dir == dir && f.name == e.Name })
			if !known {
				if err := c.fs.Remove(filepath.Join(c.dst, dir, e.Name)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// copy copies a file as far as it went when it was listed, unless it is one that does not change and is there. A file
// that is gone by now was not needed.
func (c *copier) copy(ctx context.Context, f copied, fixed bool) (err error) {
	to := filepath.Join(c.dst, f.dir, f.name)
	if size, err := c.fs.Size(to); err == nil && fixed && !c.doubtful && size == f.size {
		c.advance(f.size)
		return nil
	}
	in, err := c.fs.OpenFile(filepath.Join(c.src, f.dir, f.name), os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		if f.dir == "volumes" {
			c.gone = f.name
		}
		c.advance(f.size)
		return nil
	}
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := c.fs.OpenFile(to, os.O_RDWR|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if c.buf == nil {
		c.buf = make([]byte, 1<<20)
	}
	for off := int64(0); off < f.size; {
		if err := ctx.Err(); err != nil {
			return err
		}
		p := c.buf[:min(int64(len(c.buf)), f.size-off)]
		n, err := in.ReadAt(p, off)
		if n < len(p) && err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if n == 0 {
			break // it was cut shorter
		}
		if _, err := out.WriteAt(p[:n], off); err != nil {
			return err
		}
		off += int64(n)
		c.advance(int64(n))
	}
	return out.Sync()
}

func (c *copier) advance(n int64) {
	c.done += n
	if c.progress != nil {
		c.progress(c.done, c.total)
	}
}
