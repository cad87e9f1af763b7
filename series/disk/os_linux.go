package disk

import (
	"errors"

	"golang.org/x/sys/unix"
)

// datasync writes contents and what is needed to read them, the size among it, but no times.
func datasync(fd uintptr) error {
	return uninterrupted(func() error { return unix.Fdatasync(int(fd)) })
}

func allocate(fd uintptr, off, n int64) error {
	err := uninterrupted(func() error { return unix.Fallocate(int(fd), unix.FALLOC_FL_KEEP_SIZE, off, n) })
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) {
		return nil // the file system cannot: writes will find out
	}
	return err
}
