// Package disk is the file system as a store sees it: files read and written at offsets, names that are made durable
// apart from contents, a lock, and how much room is left.
//
// A store that goes through an FS can be tested against one that loses power (package faulty), and OS is the one of
// the machine:
//
//	fs := disk.OS()
//	f, err := fs.OpenFile(name, os.O_RDWR|os.O_CREATE)
//	_, err = f.WriteAt(p, 0)
//	err = f.Sync()                       // the contents outlive the machine
//	err = fs.SyncDir(filepath.Dir(name)) // and so does the name
//
// What an FS promises is no more than what POSIX does. What was written is read again by everyone at once, and outlives
// the program; the machine it outlives only after Sync. Until then a loss of power may keep any 512-byte sectors of it
// and lose the others. A name that was made, changed or removed outlives the machine after SyncDir of its directory.
package disk

import (
	"errors"
	"io"
)

// ErrLocked is what Lock answers where somebody else has the lock.
var ErrLocked = errors.New("locked by another store")

// FS is a file system. Names are paths as package filepath makes them. Errors are *fs.PathError where there is a path
// to name; those of missing files are fs.ErrNotExist, and IsFull tells those of a full disk.
type FS interface {
	// OpenFile opens a file with flags of package os, of which os.O_RDONLY, os.O_RDWR, os.O_CREATE, os.O_EXCL and
	// os.O_TRUNC are allowed.
	OpenFile(name string, flag int) (File, error)
	// Rename gives a file a new name in the same directory, in the place of the file that had it, if any.
	Rename(from, to string) error
	// Remove removes a file. Those who have it open go on reading it.
	Remove(name string) error
	// MkdirAll makes a directory and those above it where they are missing, durably.
	MkdirAll(dir string) error
	// ReadDir lists a directory in order of names.
	ReadDir(dir string) ([]Entry, error)
	// Size returns the bytes of a file.
	Size(name string) (int64, error)
	// SyncDir makes durable which names there are in a directory and which files they mean.
	SyncDir(dir string) error
	// Free returns how many bytes can still be written below a directory.
	Free(dir string) (int64, error)
	// Lock makes the caller the only one, of this program or another, who has the lock of this name until it closes what
	// is returned or the program ends. The file of that name is created if need be and stays. Others get ErrLocked.
	Lock(name string) (io.Closer, error)
}

// Entry is a file or directory in a directory.
type Entry struct {
	Name string // without the directory
	Dir  bool
	Size int64
}

// File is an open file. All methods may be called at once; after Close they return fs.ErrClosed, and Close waits for no
// reader.
type File interface {
	// ReadAt fills p from an offset, or returns io.EOF and how much there was.
	io.ReaderAt
	// WriteAt writes p at an offset; between the end and an offset behind it are zeros. After an error some of p may be
	// in the file.
	io.WriterAt
	io.Closer
	// Name is the name with which the file was opened.
	Name() string
	// Size is how many bytes there are in the file.
	Size() (int64, error)
	// Sync makes the contents and the size durable. After an error, what was written since the last Sync may be lost,
	// though it is still read: trying again proves nothing. To be sure, write it again, best to another file.
	Sync() error
	// Truncate sets the size.
	Truncate(size int64) error
	// Allocate sees to it that n bytes from an offset on can be written without finding the disk full, where the system
	// can. It does not change the size.
	Allocate(off, n int64) error
}
