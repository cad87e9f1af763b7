//go:build unix && !linux && !darwin

package disk

import "golang.org/x/sys/unix"

func datasync(fd uintptr) error {
	return uninterrupted(func() error { return unix.Fsync(int(fd)) })
}

// allocate does nothing, so that writes find out whether there is room.
func allocate(uintptr, int64, int64) error { return nil }
