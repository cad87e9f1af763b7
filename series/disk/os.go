package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// OS is the file system of the machine. A file that it creates has a durable name at once.
func OS() FS { return osFS{} }

type osFS struct{}

type osFile struct{ *os.File }

func (osFS) OpenFile(name string, flag int) (File, error) {
	// With a file's first name comes an entry in its directory, which only a sync of that makes durable: this is
	// forgotten too easily to be left to the caller.
	if flag&os.O_CREATE != 0 {
		f, err := os.OpenFile(name, flag|os.O_EXCL, 0o666)
		if err == nil {
			if err := (osFS{}).SyncDir(filepath.Dir(name)); err != nil {
				return nil, errors.Join(err, f.Close())
			}
			return osFile{f}, nil
		}
		if !errors.Is(err, fs.ErrExist) || flag&os.O_EXCL != 0 {
			return nil, err
		}
	}
	f, err := os.OpenFile(name, flag, 0o666)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

func (osFS) Rename(from, to string) error { return os.Rename(from, to) }

func (osFS) Remove(name string) error { return os.Remove(name) }

func (o osFS) MkdirAll(dir string) error {
	if info, err := os.Stat(dir); err == nil {
		if !info.IsDir() {
			return &fs.PathError{Op: "mkdir", Path: dir, Err: errors.New("there is a file of this name")}
		}
		return nil
	}
	parent := filepath.Dir(dir)
	if parent != dir {
		if err := o.MkdirAll(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return o.SyncDir(parent)
}

func (osFS) ReadDir(dir string) ([]Entry, error) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	entries := make([]Entry, 0, len(list))
	for _, e := range list {
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed meanwhile
		}
		if err != nil {
			return nil, err
		}
		entries = append(entries, Entry{e.Name(), info.IsDir(), info.Size()})
	}
	return entries, nil
}

func (osFS) Size(name string) (int64, error) {
	info, err := os.Stat(name)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (osFS) Free(dir string) (int64, error) {
	n, err := free(dir)
	if err != nil {
		return 0, &fs.PathError{Op: "free space", Path: dir, Err: err}
	}
	return n, nil
}

// Lock leaves the number of the process in the file, for the message that others get.
func (osFS) Lock(name string) (io.Closer, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	if err := lock(f); err != nil {
		if errors.Is(err, ErrLocked) {
			var text [20]byte
			n, _ := f.ReadAt(text[:], 0)
			if pid := strings.TrimSpace(string(text[:n])); pid != "" {
				err = fmt.Errorf("%w, of process %s", err, pid)
			}
		}
		return nil, errors.Join(&fs.PathError{Op: "lock", Path: name, Err: err}, f.Close())
	}
	// Only a message lacks if this fails.
	pid := strconv.AppendInt(nil, int64(os.Getpid()), 10)
	if f.Truncate(0) == nil {
		_, _ = f.WriteAt(append(pid, '\n'), 0)
	}
	return f, nil
}

func (f osFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (f osFile) Sync() error { return f.control("sync", datasync) }

func (f osFile) Allocate(off, n int64) error {
	if n <= 0 {
		return nil
	}
	return f.control("allocate", func(fd uintptr) error { return allocate(fd, off, n) })
}

// control calls do with the descriptor, which stays open meanwhile.
func (f osFile) control(op string, do func(fd uintptr) error) error {
	c, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	if err := c.Control(func(fd uintptr) { failed = do(fd) }); err != nil {
		if errors.Is(err, fs.ErrClosed) || strings.Contains(err.Error(), "closed") {
			err = fs.ErrClosed
		}
		return &fs.PathError{Op: op, Path: f.Name(), Err: err}
	}
	if failed != nil {
		return &fs.PathError{Op: op, Path: f.Name(), Err: failed}
	}
	return nil
}
