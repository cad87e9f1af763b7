package series

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"weir/series/disk"
)

// manifest is the small file that makes a directory a store. It is replaced as a whole.
type manifest struct {
	created  int64  // nanoseconds since 1970
	durable  uint64 // address below which the volumes are durable, and without which the log may have been cut
	segment  uint32 // of the log, where it begins if there is none
	keepLast bool   // of points of one time, only the last one counts
}

const (
	manifestName    = "store.wst"
	manifestMagic   = "\x89wst0\r\n\x1a"
	manifestVersion = 1
	manifestSize    = 48
	shardCount      = 16 // into which series are divided, by ID

	flagKeepLast = 1
)

// errOtherVersion says that a store was made by another version of this program, which is no damage.
var errOtherVersion = errors.New("a store of another version")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func (m manifest) append(dst []byte) []byte {
	from := len(dst)
	dst = append(dst, manifestMagic...)
	dst = binary.LittleEndian.AppendUint32(dst, manifestVersion)
	dst = binary.LittleEndian.AppendUint32(dst, shardCount)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(m.created))
	dst = binary.LittleEndian.AppendUint64(dst, m.durable)
	dst = binary.LittleEndian.AppendUint32(dst, m.segment)
	flags := uint64(0)
	if m.keepLast {
		flags |= flagKeepLast
	}
	dst = binary.LittleEndian.AppendUint64(dst, flags)
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[from:], castagnoli))
}

func parseManifest(b []byte) (m manifest, err error) {
	switch {
	case len(b) != manifestSize:
		return m, fmt.Errorf("%d bytes, want %d", len(b), manifestSize)
	case string(b[:8]) != manifestMagic:
		return m, fmt.Errorf("begins with %q, want %q", b[:8], manifestMagic)
	case crc32.Checksum(b[:manifestSize-4], castagnoli) != binary.LittleEndian.Uint32(b[manifestSize-4:]):
		return m, errors.New("its checksum is wrong")
	}
	if v := binary.LittleEndian.Uint32(b[8:]); v != manifestVersion {
		return m, fmt.Errorf("%w: version %d; this program reads version %d", errOtherVersion, v, manifestVersion)
	}
	if n := binary.LittleEndian.Uint32(b[12:]); n != shardCount {
		return m, fmt.Errorf("%w: %d shards; this program knows %d", errOtherVersion, n, shardCount)
	}
	flags := binary.LittleEndian.Uint64(b[36:])
	if flags&^flagKeepLast != 0 {
		return m, fmt.Errorf("%w: properties %#x; this program knows %#x", errOtherVersion, flags, flagKeepLast)
	}
	m.keepLast = flags&flagKeepLast != 0
	m.created = int64(binary.LittleEndian.Uint64(b[16:]))
	m.durable = binary.LittleEndian.Uint64(b[24:])
	m.segment = binary.LittleEndian.Uint32(b[32:])
	return m, nil
}

// readManifest reads the manifest of a directory. fs.ErrNotExist says that there is none, a *CorruptError that it is
// damaged.
func readManifest(f disk.FS, dir string) (manifest, error) {
	path := filepath.Join(dir, manifestName)
	b, err := readFile(f, path, manifestSize+1)
	if err != nil {
		return manifest{}, err
	}
	m, err := parseManifest(b)
	if errors.Is(err, errOtherVersion) {
		return manifest{}, fmt.Errorf("%s: %w", path, err)
	}
	if err != nil {
		return manifest{}, &CorruptError{Path: path, Length: int64(len(b)), What: "the manifest", Err: err}
	}
	return m, nil
}

// readFile reads at most limit bytes of a file.
func readFile(f disk.FS, path string, limit int) ([]byte, error) {
	file, err := f.OpenFile(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	b := make([]byte, limit)
	n, err := file.ReadAt(b, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return b[:n], nil
}

// replaceFile puts a file in the place of what has its name, if anything, durably.
func replaceFile(f disk.FS, path string, write func(io.Writer) error) (err error) {
	temporary := path + ".tmp"
	defer func() {
		if err != nil {
			err = fmt.Errorf("write %s: %w", path, err)
			if e := f.Remove(temporary); e != nil && !errors.Is(e, fs.ErrNotExist) {
				err = errors.Join(err, e)
			}
		}
	}()
	file, err := f.OpenFile(temporary, os.O_RDWR|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return err
	}
	err = write(&offsetWriter{file: file})
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	if err := f.Rename(temporary, path); err != nil {
		return err
	}
	return f.SyncDir(filepath.Dir(path))
}

// offsetWriter writes a file from its begin on.
type offsetWriter struct {
	file disk.File
	off  int64
}

func (w *offsetWriter) Write(p []byte) (int, error) {
	n, err := w.file.WriteAt(p, w.off)
	w.off += int64(n)
	return n, err
}

func (m manifest) write(f disk.FS, dir string) error {
	return replaceFile(f, filepath.Join(dir, manifestName), func(w io.Writer) error {
		_, err := io.Copy(w, bytes.NewReader(m.append(nil)))
		return err
	})
}
