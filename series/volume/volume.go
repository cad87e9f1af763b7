// Package volume keeps nodes in files, the volumes, each of which is written strictly in order and never changed.
//
//	v, err := volume.Open(disk.OS(), dir, volume.Options{})
//	_, err = v.Recover(0, 0, nil, nil)
//	at, length, err := v.Append(payload) // in memory; read at once, written with others
//	payload, err = v.Read(buffer, at, length)
//	durable, err := v.Sync()
//
// An address says which volume and where in it, and never means anything else: each node carries a checksum of its
// payload and of its address, so that stale bytes, or those of another place, are not taken for it. Without a limit,
// there is a volume more whenever one is full. With one, the oldest makes room for the next.
//
// Everything may be called at once. Reading waits neither for writing nor for other readers.
package volume

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"weir/series/disk"
)

// Address is the number of a volume, shifted left by 40 bits, and an offset in it. 0 is no address. Of two nodes, the
// one that was appended later has the higher one.
type Address = uint64

const (
	// MaxNode is how many bytes a node may have.
	MaxNode = 64 << 10
	// MinSize is the least size of a volume.
	MinSize = 1 << 20
	// DefaultReserve is how many bytes of the disk are left free where nothing is said.
	DefaultReserve = 64 << 20

	offsetBits = 40
	headerSize = 4096
	frameSize  = 8
)

// Errors that callers test for.
var (
	ErrFull   = errors.New("the disk is full") // there was no room, or only the reserve; there may be some later
	ErrGone   = errors.New("the volume was dropped")
	ErrClosed = errors.New("the volumes are closed")
)

// CorruptError says what part of a volume is damaged.
type CorruptError struct {
	Path   string
	Offset int64
	Length int64
	Err    error
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("%s, %d bytes from byte %d: %v", e.Path, e.Length, e.Offset, e.Err)
}

func (e *CorruptError) Unwrap() error { return e.Err }

// Options are the size and number of volumes. Fields that are 0 have the default.
type Options struct {
	Size    int64 // bytes a volume, 256 MiB by default, at least MinSize
	Count   int   // 0 for as many as are needed; or how many there are, 2 at least, of which the oldest is recycled
	Buffer  int   // bytes of each of the two buffers, 1 MiB by default, at least 128 KiB
	Reserve int64 // bytes of the disk that Append leaves free: 64 MiB by default, none if negative

	// OnRecycle is called before the oldest volume is removed for a new one, within a call of Append, Flush or Sync,
	// whose caller's locks it must not wait for. It may call Read and Oldest only.
	OnRecycle func(Info)
}

func (o *Options) check() error {
	if o.Size == 0 {
		o.Size = 256 << 20
	}
	if o.Buffer == 0 {
		o.Buffer = 1 << 20
	}
	switch {
	case o.Reserve == 0:
		o.Reserve = DefaultReserve
	case o.Reserve < 0:
		o.Reserve = 0
	}
	switch {
	case o.Size < MinSize || o.Size >= 1<<offsetBits:
		return fmt.Errorf("a volume of %d bytes; expected %d to %d", o.Size, MinSize, int64(1)<<offsetBits-1)
	case o.Count < 0 || o.Count == 1:
		return fmt.Errorf("a ring of %d volumes; expected 2 or more, or 0 for as many as are needed", o.Count)
	case o.Buffer < 2*MaxNode || o.Buffer > 1<<30:
		return fmt.Errorf("a buffer of %d bytes; expected %d to %d", o.Buffer, 2*MaxNode, 1<<30)
	}
	return nil
}

// Info describes a volume.
type Info struct {
	Number  uint64
	Path    string
	Size    int64 // that it may grow to
	Used    int64 // bytes of the file
	Created time.Time
	First   Address // of the first node
	End     Address // behind the last one
}

// Stats counts what was done since Open.
type Stats struct {
	Reads, ReadBytes     uint64 // nodes that were read one by one, and their bytes
	Appends, AppendBytes uint64 // nodes and their bytes, those of frames included
	Writes, Syncs        uint64 // of files
}

// Volumes are the volumes of a directory.
type Volumes struct {
	fs  disk.FS
	dir string
	o   Options

	files   atomic.Pointer[[]*file] // in order of numbers; replaced, not changed
	end     atomic.Uint64           // where the next node goes, unless it is too large for the volume
	flushed atomic.Uint64           // what is below is in files
	low     atomic.Bool             // there may be only the reserve left

	mu     sync.Mutex // held to copy, never while a file is written
	blocks []*block   // to be written in this order; only the last may be open
	spare  []*block
	state  error // why there is no appending

	writing sync.Mutex // held to write, make and remove files; taken before mu
	durable Address    // what is below outlives the machine
	syncing sync.Mutex // taken before writing

	reads, readBytes, appends, appendBytes, writes, syncs atomic.Uint64
}

// file is a volume. All but what is atomic is set before others see it.
type file struct {
	disk.File
	header
	damage *CorruptError // of the header
	page   []byte        // what the header should be, if that is known and it is not
	used   atomic.Int64
	dirty  bool // guarded by writing
}

// block is a piece of a volume that is not in its file yet.
type block struct {
	at     Address
	data   []byte
	closed bool
}

func address(number uint64, off int64) Address { return number<<offsetBits | uint64(off) }

func split(at Address) (number uint64, off int64) {
	return at >> offsetBits, int64(at & (1<<offsetBits - 1))
}

func fileName(dir string, number uint64) string {
	return filepath.Join(dir, fmt.Sprintf("volume-%08d.wsv", number))
}

var errRecover = errors.New("volumes that were there before: Recover comes before Append")

// Open opens the volumes of a directory, which it makes where there is none. Where there were volumes, Recover is to
// be called before anything is appended.
func Open(fs disk.FS, dir string, o Options) (*Volumes, error) {
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("open volumes in %s: %w", dir, err)
	}
	v := &Volumes{fs: fs, dir: dir, o: o}
	for range 2 {
		v.spare = append(v.spare, new(block))
	}
	files, err := openFiles(fs, dir)
	if err != nil {
		for _, f := range files {
			err = errors.Join(err, f.Close())
		}
		return nil, fmt.Errorf("open volumes in %s: %w", dir, err)
	}
	v.files.Store(&files)
	v.setEnd(address(1, headerSize))
	if n := len(files); n > 0 {
		v.setEnd(address(files[n-1].number, max(headerSize, files[n-1].used.Load())))
		v.state = errRecover
	}
	return v, nil
}

func (v *Volumes) setEnd(at Address) {
	v.end.Store(at)
	v.flushed.Store(at)
}

// End is the address behind the last node: the next one gets this one or a higher one.
func (v *Volumes) End() Address { return v.end.Load() }

// Oldest is the lowest address that there may be a node at.
func (v *Volumes) Oldest() Address {
	if files := *v.files.Load(); len(files) > 0 {
		return address(files[0].number, headerSize)
	}
	number, _ := split(v.end.Load())
	return address(number, headerSize)
}

// List describes the volumes, the oldest first. A volume is in it once something was written to it.
func (v *Volumes) List() []Info {
	files := *v.files.Load()
	list := make([]Info, len(files))
	for i, f := range files {
		list[i] = f.info()
	}
	return list
}

func (f *file) info() Info {
	used := f.used.Load()
	return Info{f.number, f.Name(), f.size, used, f.created, address(f.number, headerSize), address(f.number, used)}
}

// Stats returns the counts.
func (v *Volumes) Stats() Stats {
	return Stats{v.reads.Load(), v.readBytes.Load(), v.appends.Load(), v.appendBytes.Load(), v.writes.Load(), v.syncs.Load()}
}

// find returns the file of a volume, nil if there is none.
func (v *Volumes) find(number uint64) *file {
	files := *v.files.Load()
	i, ok := slices.BinarySearchFunc(files, number, func(f *file, n uint64) int {
		switch {
		case f.number < n:
			return -1
		case f.number > n:
			return 1
		}
		return 0
	})
	if !ok {
		return nil
	}
	return files[i]
}

// Drop removes a volume, which may not be the last one.
func (v *Volumes) Drop(number uint64) error {
	v.writing.Lock()
	defer v.writing.Unlock()
	files := *v.files.Load()
	f := v.find(number)
	if f == nil {
		return fmt.Errorf("drop volume %d: %w", number, ErrGone)
	}
	if f == files[len(files)-1] {
		return fmt.Errorf("drop volume %d: it is the one that is written to", number)
	}
	return v.remove(f)
}

// remove is called with writing held.
func (v *Volumes) remove(f *file) error {
	if err := v.fs.Remove(f.Name()); err != nil {
		return fmt.Errorf("drop volume %d: %w", f.number, err)
	}
	rest := slices.DeleteFunc(slices.Clone(*v.files.Load()), func(g *file) bool { return g == f })
	v.files.Store(&rest)
	if err := errors.Join(f.Close(), v.fs.SyncDir(v.dir)); err != nil {
		return fmt.Errorf("drop volume %d: %w", f.number, err)
	}
	return nil
}

// Close makes everything durable, as far as it can be written, and closes the files.
func (v *Volumes) Close() error {
	v.mu.Lock()
	state := v.state
	v.mu.Unlock()
	if errors.Is(state, ErrClosed) {
		return nil
	}
	var err error
	if state == nil {
		_, err = v.Sync()
	}
	v.writing.Lock()
	defer v.writing.Unlock()
	v.mu.Lock()
	v.state = ErrClosed
	v.mu.Unlock()
	for _, f := range *v.files.Load() {
		err = errors.Join(err, f.Close())
	}
	return err
}
