//go:build unix

package disk

import (
	"errors"
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// IsFull reports whether an error says that there is no room on the disk, or no more for this user.
func IsFull(err error) bool { return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) }

// uninterrupted calls do until it was not a signal that ended it.
func uninterrupted(do func() error) error {
	for {
		if err := do(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func (osFS) SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func free(dir string) (int64, error) {
	var s unix.Statfs_t
	if err := uninterrupted(func() error { return unix.Statfs(dir, &s) }); err != nil {
		return 0, err
	}
	size := uint64(s.Bsize)
	blocks := uint64(s.Bavail)
	if size > 0 && blocks > math.MaxInt64/size {
		return math.MaxInt64, nil
	}
	return int64(blocks * size), nil
}

// lock takes a lock that belongs to the open file, so that it also keeps others of this program out.
func lock(f *os.File) error {
	c, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	if err := c.Control(func(fd uintptr) {
		failed = uninterrupted(func() error { return unix.Flock(int(fd), unix.LOCK_EX|unix.LOCK_NB) })
	}); err != nil {
		return err
	}
	if errors.Is(failed, unix.EWOULDBLOCK) {
		return ErrLocked
	}
	return failed
}
