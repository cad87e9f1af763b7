package disk

import (
	"errors"
	"math"
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

// IsFull reports whether an error says that there is no room on the disk.
func IsFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL) || errors.Is(err, syscall.ENOSPC)
}

func datasync(fd uintptr) error { return windows.FlushFileBuffers(windows.Handle(fd)) }

// allocate does nothing, so that writes find out whether there is room.
func allocate(uintptr, int64, int64) error { return nil }

// SyncDir does nothing: here, a directory cannot be synced.
func (osFS) SyncDir(string) error { return nil }

func free(dir string) (int64, error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	var n uint64
	if err := windows.GetDiskFreeSpaceEx(name, &n, nil, nil); err != nil {
		return 0, err
	}
	return int64(min(n, math.MaxInt64)), nil
}

// lock locks a byte far behind the text of the file, which others may read.
func lock(f *os.File) error {
	at := windows.Overlapped{OffsetHigh: 1}
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return ErrLocked
	}
	return err
}
