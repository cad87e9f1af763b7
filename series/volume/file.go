package volume

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"slices"
	"time"

	"weir/series/disk"
)

// The file is described in docs/formats-series.md.
const (
	magic       = "\x89wsvo\r\n\x1a"
	version     = 1
	headerBytes = 64
	headerCopy  = 2048 // where the header is once more

	frameMark = 0xa7
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

type header struct {
	number   uint64
	size     int64
	created  time.Time
	previous Address // where the volume before ended; 0 if there was none
	durable  Address // what was below it was durable when the volume was made
}

func appendHeader(dst []byte, h header) []byte {
	from := len(dst)
	dst = append(dst, magic...)
	dst = binary.LittleEndian.AppendUint32(dst, version)
	dst = binary.LittleEndian.AppendUint32(dst, 0)
	dst = binary.LittleEndian.AppendUint64(dst, h.number)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(h.size))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(h.created.UnixNano()))
	dst = binary.LittleEndian.AppendUint64(dst, h.previous)
	dst = binary.LittleEndian.AppendUint64(dst, h.durable)
	dst = binary.LittleEndian.AppendUint32(dst, 0)
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[from:], castagnoli))
}

// page is what a volume begins with: the header twice, and zeros.
func (h header) page() []byte {
	page := make([]byte, headerSize)
	appendHeader(page[:0], h)
	copy(page[headerCopy:], page[:headerBytes])
	return page
}

// firstDifference is where a and b, of one length, begin to differ; -1 if they do not.
func firstDifference(a, b []byte) int {
	for i := range a {
		if a[i] != b[i] {
			return i
		}
	}
	return -1
}

func parseHeader(b []byte, number uint64) (header, error) {
	if string(b[:8]) != magic {
		return header{}, fmt.Errorf("begins with %q, not with %q: this is no volume", b[:8], magic)
	}
	if crc32.Checksum(b[:headerBytes-4], castagnoli) != binary.LittleEndian.Uint32(b[headerBytes-4:]) {
		return header{}, errors.New("the checksum of the header is wrong")
	}
	if n := binary.LittleEndian.Uint32(b[8:]); n != version {
		return header{}, fmt.Errorf("has version %d; this program reads version %d", n, version)
	}
	h := header{
		number:   binary.LittleEndian.Uint64(b[16:]),
		size:     int64(binary.LittleEndian.Uint64(b[24:])),
		created:  time.Unix(0, int64(binary.LittleEndian.Uint64(b[32:]))),
		previous: binary.LittleEndian.Uint64(b[40:]),
		durable:  binary.LittleEndian.Uint64(b[48:]),
	}
	if h.number != number {
		return header{}, fmt.Errorf("has number %d inside, but %d in its name", h.number, number)
	}
	if h.size < headerSize || h.size >= 1<<offsetBits {
		return header{}, fmt.Errorf("has a size of %d bytes", h.size)
	}
	return h, nil
}

// openFiles opens the volumes of a directory, in order. After an error those that are open are returned.
func openFiles(fs disk.FS, dir string) (files []*file, err error) {
	if err := fs.MkdirAll(dir); err != nil {
		return nil, err
	}
	list, err := fs.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var numbers []uint64
	for _, e := range list {
		var n uint64
		if k, _ := fmt.Sscanf(e.Name, "volume-%d.wsv", &n); k == 1 && n > 0 && n < 1<<(64-offsetBits) && fileName("", n) == e.Name {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers) // names sort as numbers do up to 8 digits only
	for i, n := range numbers {
		f, err := openFile(fs, fileName(dir, n), n)
		if err != nil {
			return files, err
		}
		if i == len(numbers)-1 && f.damage != nil && f.used.Load() <= headerSize {
			// It was being made: a volume is written to only once its header is durable.
			if err := errors.Join(f.Close(), fs.Remove(f.Name()), fs.SyncDir(dir)); err != nil {
				return files, err
			}
			break
		}
		files = append(files, f)
	}
	return files, nil
}

// openFile opens a volume. Without a good header it can be read too.
func openFile(fs disk.FS, path string, number uint64) (*file, error) {
	df, err := fs.OpenFile(path, os.O_RDWR)
	if err != nil {
		return nil, err
	}
	f := &file{File: df}
	size, err := df.Size()
	if err != nil {
		return nil, errors.Join(err, df.Close())
	}
	f.used.Store(size)
	page := make([]byte, headerSize)
	if _, err := df.ReadAt(page, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, errors.Join(err, df.Close())
	}
	for _, off := range []int64{headerCopy, 0} {
		h, err := parseHeader(page[off:], number)
		if err == nil && size < headerSize {
			err = io.ErrUnexpectedEOF
		}
		if err == nil {
			f.header = h
		} else {
			f.damage = &CorruptError{path, off, headerBytes, err}
		}
	}
	if f.number != 0 {
		// What is good of it says what the rest should be.
		f.page = f.header.page()
		if i := firstDifference(page, f.page); i < 0 {
			f.page = nil
		} else if f.damage == nil {
			f.damage = &CorruptError{path, int64(i), 1, errors.New("the header is not as it was written")}
		}
	}
	if f.number == 0 {
		f.number, f.size = number, max(size, headerSize)
	}
	return f, nil
}

// create makes a volume, durably. It is called with writing held.
func (v *Volumes) create(number uint64) (*file, error) {
	files := *v.files.Load()
	for v.o.Count > 0 && len(files) >= v.o.Count {
		if v.o.OnRecycle != nil {
			v.o.OnRecycle(files[0].info())
		}
		if err := v.remove(files[0]); err != nil {
			return nil, err
		}
		files = *v.files.Load()
	}
	h := header{number: number, size: v.o.Size, created: time.Now(), durable: v.durable}
	if len(files) > 0 {
		last := files[len(files)-1]
		h.previous = address(last.number, last.used.Load())
	}
	path := fileName(v.dir, number)
	df, err := v.fs.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return nil, err
	}
	if v.o.Count > 0 {
		err = df.Allocate(0, v.o.Size) // so that a ring never finds the disk full
	}
	if err == nil {
		_, err = df.WriteAt(h.page(), 0)
	}
	if err == nil {
		err = errors.Join(df.Sync(), v.fs.SyncDir(v.dir))
	}
	if err != nil {
		return nil, errors.Join(err, df.Close(), v.fs.Remove(path))
	}
	f := &file{File: df, header: h}
	f.used.Store(headerSize)
	files = append(files[:len(files):len(files)], f)
	v.files.Store(&files)
	return f, nil
}

// appendFrame appends a node as it is in the file at an address.
func appendFrame(dst []byte, at Address, payload []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, frameMark<<24|uint32(len(payload)))
	dst = binary.LittleEndian.AppendUint32(dst, checksum(at, payload))
	return append(dst, payload...)
}

// checksum is of an address and what is there.
func checksum(at Address, payload []byte) uint32 {
	var b [12]byte
	binary.LittleEndian.PutUint64(b[:], at)
	binary.LittleEndian.PutUint32(b[8:], uint32(len(payload)))
	return crc32.Update(crc32.Checksum(b[:], castagnoli), castagnoli, payload)
}

var (
	errFrame    = errors.New("there is no node")
	errChecksum = errors.New("the checksum of a node is wrong")
	errShort    = errors.New("a node that is cut short")
)

// frameLength returns the bytes of the frame that b begins with.
func frameLength(b []byte) (int, error) {
	x := binary.LittleEndian.Uint32(b)
	if n := x & (1<<24 - 1); x>>24 == frameMark && n > 0 && n <= MaxNode {
		return frameSize + int(n), nil
	}
	return 0, errFrame
}

// parseFrame returns the payload of a frame.
func parseFrame(b []byte, at Address) ([]byte, error) {
	if len(b) <= frameSize {
		return nil, errShort
	}
	n, err := frameLength(b)
	if err != nil {
		return nil, err
	}
	if n != len(b) {
		return nil, fmt.Errorf("a node of %d bytes where one of %d was expected", n, len(b))
	}
	if checksum(at, b[frameSize:]) != binary.LittleEndian.Uint32(b[4:]) {
		return nil, errChecksum
	}
	return b[frameSize:], nil
}
