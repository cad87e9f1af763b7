package faulty

import (
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"syscall"
)

// Sector is how many bytes are written whole or not at all.
const Sector = 512

type file struct {
	d        *Disk
	n        *inode
	name     string
	readOnly bool
	closed   atomic.Bool
}

func (f *file) Name() string { return f.name }

// begin is called first. It leaves the disk locked.
func (f *file) begin(op Op) error {
	err := f.d.begin(op, f.name)
	switch {
	case f.closed.Load():
		err = &fs.PathError{Op: op.String(), Path: f.name, Err: fs.ErrClosed}
	case err == nil && f.readOnly && op != Read && op != Sync:
		err = &fs.PathError{Op: op.String(), Path: f.name, Err: syscall.EBADF}
	}
	return err
}

func (f *file) ReadAt(p []byte, off int64) (int, error) {
	err := f.begin(Read)
	defer f.d.mu.Unlock()
	if err != nil {
		return 0, err
	}
	n := 0
	if off < int64(len(f.n.data)) {
		n = copy(p, f.n.data[off:])
	}
	f.d.counts.BytesRead += int64(n)
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *file) WriteAt(p []byte, off int64) (int, error) {
	err := f.begin(Write)
	defer f.d.mu.Unlock()
	if f.closed.Load() || f.readOnly {
		return 0, err
	}
	if err != nil {
		p = p[:len(p)/2]
	}
	n, end := f.n, off+int64(len(p))
	if space := max(n.space, end); !n.removed && f.d.used+space-n.space > f.d.budget {
		room := max(0, f.d.budget-f.d.used)
		p = p[:max(0, min(int64(len(p)), n.space+room-off))]
		err = &fs.PathError{Op: "write", Path: f.name, Err: syscall.ENOSPC}
		end = off + int64(len(p))
	}
	if len(p) == 0 {
		return 0, err
	}
	if end > int64(len(n.data)) {
		// The size and the bytes are one write, so that resize is not to note it.
		space := max(n.space, end)
		if !n.removed {
			f.d.used += space - n.space
		}
		n.space = space
		n.data = append(n.data, make([]byte, end-int64(len(n.data)))...)
	}
	copy(n.data[off:], p)
	n.since = append(n.since, write{off, slices.Clone(p)})
	f.d.counts.BytesWritten += int64(len(p))
	return len(p), err
}

func (f *file) Sync() error {
	err := f.begin(Sync)
	defer f.d.mu.Unlock()
	if f.closed.Load() {
		return err
	}
	if err != nil {
		f.n.kept = f.n.torn(f.d.rnd)
	} else {
		for _, w := range f.n.since {
			f.n.kept = w.apply(f.n.kept)
		}
	}
	f.n.since = nil
	return err
}

func (f *file) Truncate(size int64) error {
	err := f.begin(Truncate)
	defer f.d.mu.Unlock()
	if err == nil && !f.d.resize(f.n, size, 0) {
		err = &fs.PathError{Op: "truncate", Path: f.name, Err: syscall.ENOSPC}
	}
	return err
}

func (f *file) Allocate(off, n int64) error {
	err := f.begin(Allocate)
	defer f.d.mu.Unlock()
	if err == nil && !f.d.resize(f.n, int64(len(f.n.data)), max(f.n.space, off+n)) {
		err = &fs.PathError{Op: "allocate", Path: f.name, Err: syscall.ENOSPC}
	}
	return err
}

func (f *file) Size() (int64, error) {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	if f.closed.Load() {
		return 0, &fs.PathError{Op: "size", Path: f.name, Err: fs.ErrClosed}
	}
	return int64(len(f.n.data)), nil
}

func (f *file) Close() error {
	if f.closed.Swap(true) {
		return &fs.PathError{Op: "close", Path: f.name, Err: fs.ErrClosed}
	}
	return nil
}

func (w write) apply(data []byte) []byte {
	if w.data == nil {
		return grow(data[:min(int64(len(data)), w.off)], w.off)
	}
	data = grow(data, w.off+int64(len(w.data)))
	copy(data[w.off:], w.data)
	return data
}

// grow appends zeros up to a size.
func grow(data []byte, size int64) []byte {
	if n := size - int64(len(data)); n > 0 {
		return append(data, make([]byte, n)...)
	}
	return data
}

// torn is a file as it may be once power was lost.
func (n *inode) torn(rnd *rand.Rand) []byte {
	keep := []float64{0, 1, 0.5, rnd.Float64()}[rnd.IntN(4)]
	as := slices.Clone(n.kept) // as it was in memory
	img, size := slices.Clone(n.kept), int64(len(n.kept))
	for _, w := range n.since {
		as = w.apply(as)
		if w.data == nil {
			if rnd.Float64() < keep {
				img = w.apply(img[:min(int64(len(img)), size)])
				size = w.off
			}
			continue
		}
		end := w.off + int64(len(w.data))
		for s := w.off / Sector * Sector; s < end; s += Sector {
			if rnd.Float64() < keep {
				e := min(s+Sector, int64(len(as)))
				img = grow(img, e)
				copy(img[s:e], as[s:e])
			}
		}
		if rnd.Float64() < keep {
			size = max(size, end)
		}
	}
	img = grow(img, size)
	return img[:size:size]
}

// Crash returns the disk as it may be after a loss of power now. The disk itself goes on.
func (d *Disk) Crash(seed uint64) *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	rnd := rand.New(rand.NewPCG(seed, 2))
	names := maps.Clone(d.kept)
	keep := []float64{0, 1, 0.5}[rnd.IntN(3)]
	for _, c := range d.since {
		if rnd.Float64() < keep {
			c.apply(names)
		}
	}
	return d.with(names, func(n *inode) *inode {
		data := n.torn(rnd)
		return &inode{data: data, kept: slices.Clone(data)}
	})
}

// Kill returns the disk as it is after the end of the program now: everything is there, unsynced as it was.
func (d *Disk) Kill() *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	copies := map[*inode]*inode{}
	clone := func(n *inode) *inode {
		if n != nil && copies[n] == nil {
			copies[n] = &inode{data: slices.Clone(n.data), kept: slices.Clone(n.kept), since: slices.Clone(n.since)}
		}
		return copies[n]
	}
	k := d.with(d.names, clone)
	for name, n := range d.kept {
		k.kept[name] = clone(n)
	}
	for name := range k.kept {
		if d.kept[name] == nil {
			delete(k.kept, name)
		}
	}
	for _, c := range d.since {
		k.since = append(k.since, change{c.name, c.from, clone(c.to)})
	}
	return k
}

// with returns a disk of these names, all of which are durable.
func (d *Disk) with(names map[string]*inode, clone func(*inode) *inode) *Disk {
	c := New()
	c.dirs = maps.Clone(d.dirs)
	// In order, so that a seed means the same each time.
	for _, name := range slices.Sorted(maps.Keys(names)) {
		n := clone(names[name])
		n.space = int64(len(n.data))
		c.used += n.space
		c.names[name], c.kept[name] = n, n
	}
	return c
}
