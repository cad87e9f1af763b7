// Package faulty is a file system in memory that fails as disks do, for tests of stores.
//
//	d := faulty.New()
//	d.FailAt(faulty.Write, 3, syscall.EIO) // the third write from now on
//	d.SetBudget(1 << 20)                   // a disk of a megabyte
//	... use d as a disk.FS ...
//	after := d.Crash(seed)                 // what may be there once power was lost
//
// Of what was written and not synced when power is lost, any sectors of 512 bytes are kept, each as it was at some time
// since the last sync. Of names that were made, changed or removed, any are, unless their directory was synced.
package faulty

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"weir/series/disk"
)

// Op is a kind of operation.
type Op int

// The kinds of operations that can fail.
const (
	Open Op = iota
	Read
	Write
	Sync
	Truncate
	Allocate
	Rename
	Remove
	SyncDir
	ops
)

var opNames = [...]string{"open", "read", "write", "sync", "truncate", "allocate", "rename", "remove", "sync directory"}

func (o Op) String() string { return opNames[o] }

// Counts is what was done.
type Counts struct {
	Ops                     [ops]int // by kind, those that failed among them
	BytesRead, BytesWritten int64
}

// Disk is the file system. It starts empty.
type Disk struct {
	mu     sync.Mutex
	dirs   map[string]bool
	names  map[string]*inode
	kept   map[string]*inode // names that outlive a loss of power
	since  []change          // of names, which do not yet
	locks  map[string]bool
	budget int64
	used   int64
	counts Counts
	faults []fault
	hook   func(op Op, name string) error
	rnd    *rand.Rand
}

type fault struct {
	op    Op
	after int
	err   error
}

// change is of a name: to an inode, or to none; and from is no name anymore.
type change struct {
	name, from string
	to         *inode
}

type inode struct {
	data    []byte
	kept    []byte  // outlives a loss of power
	since   []write // which do not yet
	space   int64   // that is allocated
	removed bool
}

// write is of bytes at an offset; or a truncation, if data is nil.
type write struct {
	off  int64
	data []byte
}

// New returns an empty disk of unlimited size.
func New() *Disk {
	return &Disk{dirs: map[string]bool{"/": true, ".": true}, names: map[string]*inode{}, kept: map[string]*inode{},
		locks: map[string]bool{}, budget: math.MaxInt64, rnd: rand.New(rand.NewPCG(1, 1))}
}

// SetBudget sets how many bytes all files may have. Writes of more fail with ENOSPC, once as much as there is room for is
// written.
func (d *Disk) SetBudget(bytes int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.budget = bytes
}

// FailAt makes the nth operation of a kind from now on fail, 1 being the next; half of a write is written. After a sync
// that failed, what it was to sync is read as before, and lost in part when power is, whatever is synced later.
func (d *Disk) FailAt(op Op, n int, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.faults = append(d.faults, fault{op, n, err})
}

// SetHook has a function called before each operation, which fails if that returns an error. The function may use the disk,
// in particular call Crash.
func (d *Disk) SetHook(hook func(op Op, name string) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.hook = hook
}

// Flip inverts the bits of a byte that are set in mask, for good.
func (d *Disk) Flip(name string, off int64, mask byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.names[filepath.Clean(name)]
	if n == nil || off < 0 || off >= int64(len(n.data)) {
		return fmt.Errorf("flip byte %d of %s: there is none", off, name)
	}
	n.data[off] ^= mask
	if off < int64(len(n.kept)) {
		n.kept[off] ^= mask
	}
	return nil
}

// Counts returns what was done so far.
func (d *Disk) Counts() Counts {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.counts
}

// begin counts an operation, and returns why it fails, if it does. It returns with mu held.
func (d *Disk) begin(op Op, name string) error {
	d.mu.Lock()
	hook := d.hook
	d.mu.Unlock()
	var err error
	if hook != nil {
		err = hook(op, name)
	}
	d.mu.Lock()
	d.counts.Ops[op]++
	for i := 0; i < len(d.faults); {
		f := &d.faults[i]
		if f.op != op {
			i++
			continue
		}
		if f.after--; f.after > 0 {
			i++
			continue
		}
		err = f.err
		d.faults = slices.Delete(d.faults, i, i+1)
	}
	if err != nil {
		return &fs.PathError{Op: op.String(), Path: name, Err: err}
	}
	return nil
}

// OpenFile opens a file, of this disk alone.
func (d *Disk) OpenFile(name string, flag int) (disk.File, error) {
	err := d.begin(Open, name)
	defer d.mu.Unlock()
	if err != nil {
		return nil, err
	}
	path := filepath.Clean(name)
	n := d.names[path]
	fail := func(err error) (disk.File, error) { return nil, &fs.PathError{Op: "open", Path: name, Err: err} }
	switch {
	case n == nil && flag&os.O_CREATE == 0, n == nil && !d.dirs[filepath.Dir(path)]:
		return fail(fs.ErrNotExist)
	case n != nil && flag&os.O_EXCL != 0 && flag&os.O_CREATE != 0:
		return fail(fs.ErrExist)
	case d.dirs[path]:
		return fail(errors.New("is a directory"))
	case n == nil:
		n = new(inode)
		d.names[path] = n
		d.since = append(d.since, change{name: path, to: n})
	case flag&os.O_TRUNC != 0:
		d.resize(n, 0, 0)
	}
	return &file{d: d, n: n, name: name, readOnly: flag&os.O_RDWR == 0}, nil
}

// resize accounts for the space of a file of this length, or refuses.
func (d *Disk) resize(n *inode, size, space int64) bool {
	space = max(size, space)
	if !n.removed {
		if space > n.space && d.used+space-n.space > d.budget {
			return false
		}
		d.used += space - n.space
	}
	n.space = space
	if size < int64(len(n.data)) {
		n.data = n.data[:size:size]
		n.since = append(n.since, write{off: size})
	} else if size > int64(len(n.data)) {
		n.data = append(n.data, make([]byte, size-int64(len(n.data)))...)
		n.since = append(n.since, write{off: size})
	}
	return true
}

func (d *Disk) drop(n *inode) {
	if n != nil && !n.removed {
		n.removed = true
		d.used -= n.space
	}
}

// Rename renames a file within its directory.
func (d *Disk) Rename(from, to string) error {
	err := d.begin(Rename, from)
	defer d.mu.Unlock()
	if err != nil {
		return err
	}
	from, to = filepath.Clean(from), filepath.Clean(to)
	n := d.names[from]
	if n == nil || filepath.Dir(from) != filepath.Dir(to) {
		return &fs.PathError{Op: "rename", Path: from, Err: fs.ErrNotExist}
	}
	if from == to {
		return nil
	}
	d.drop(d.names[to])
	d.names[to] = n
	delete(d.names, from)
	d.since = append(d.since, change{to, from, n})
	return nil
}

// Remove removes a file.
func (d *Disk) Remove(name string) error {
	err := d.begin(Remove, name)
	defer d.mu.Unlock()
	if err != nil {
		return err
	}
	path := filepath.Clean(name)
	n := d.names[path]
	if n == nil {
		return &fs.PathError{Op: "remove", Path: name, Err: fs.ErrNotExist}
	}
	d.drop(n)
	delete(d.names, path)
	d.since = append(d.since, change{name: path})
	return nil
}

// MkdirAll makes a directory, which outlives everything.
func (d *Disk) MkdirAll(dir string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for dir = filepath.Clean(dir); !d.dirs[dir]; dir = filepath.Dir(dir) {
		if d.names[dir] != nil {
			return &fs.PathError{Op: "mkdir", Path: dir, Err: errors.New("there is a file of this name")}
		}
		d.dirs[dir] = true
	}
	return nil
}

// ReadDir lists a directory.
func (d *Disk) ReadDir(dir string) ([]disk.Entry, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	dir = filepath.Clean(dir)
	if !d.dirs[dir] {
		return nil, &fs.PathError{Op: "list", Path: dir, Err: fs.ErrNotExist}
	}
	var list []disk.Entry
	for name, n := range d.names {
		if filepath.Dir(name) == dir {
			list = append(list, disk.Entry{Name: filepath.Base(name), Size: int64(len(n.data))})
		}
	}
	for name := range d.dirs {
		if filepath.Dir(name) == dir && name != dir {
			list = append(list, disk.Entry{Name: filepath.Base(name), Dir: true})
		}
	}
	slices.SortFunc(list, func(a, b disk.Entry) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// Size is that of a file.
func (d *Disk) Size(name string) (int64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.names[filepath.Clean(name)]
	if n == nil {
		return 0, &fs.PathError{Op: "size", Path: name, Err: fs.ErrNotExist}
	}
	return int64(len(n.data)), nil
}

// SyncDir makes the names in a directory outlive a loss of power.
func (d *Disk) SyncDir(dir string) error {
	err := d.begin(SyncDir, dir)
	defer d.mu.Unlock()
	if err != nil {
		return err
	}
	dir = filepath.Clean(dir)
	d.since = slices.DeleteFunc(d.since, func(c change) bool {
		if filepath.Dir(c.name) != dir {
			return false
		}
		c.apply(d.kept)
		return true
	})
	return nil
}

func (c change) apply(names map[string]*inode) {
	if c.to == nil {
		delete(names, c.name)
		return
	}
	names[c.name] = c.to
	if names[c.from] == c.to {
		delete(names, c.from)
	}
}

// Free is what is left of the budget.
func (d *Disk) Free(string) (int64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return max(0, d.budget-d.used), nil
}

type lock struct {
	d    *Disk
	name string
	once sync.Once
}

// Lock takes a lock, which only a crash or Close ends.
func (d *Disk) Lock(name string) (io.Closer, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	name = filepath.Clean(name)
	if d.locks[name] {
		return nil, &fs.PathError{Op: "lock", Path: name, Err: disk.ErrLocked}
	}
	d.locks[name] = true
	return &lock{d: d, name: name}, nil
}

func (l *lock) Close() error {
	l.once.Do(func() {
		l.d.mu.Lock()
		defer l.d.mu.Unlock()
		delete(l.d.locks, l.name)
	})
	return nil
}
