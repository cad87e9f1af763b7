package disk

import "golang.org/x/sys/unix"

// datasync asks for a full sync: fsync leaves data in the memory of the drive on this system.
func datasync(fd uintptr) error {
	return uninterrupted(func() error {
		_, err := unix.FcntlInt(fd, unix.F_FULLFSYNC, 0)
		return err
	})
}

// allocate does nothing, so that writes find out whether there is room.
func allocate(uintptr, int64, int64) error { return nil }
