package series

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"

	"weir/series/disk"
	"weir/series/names"
)

// The points of a series are nothing without its name, and names are nowhere but in their file. So a checkpoint has that
// file as it was, compressed: where it is damaged, it is made whole from there.

// nameChunk is how many bytes of the file of names are in a section.
const nameChunk = 4 << 20

// copyNames writes the file of names to a checkpoint.
func (s *Store) copyNames(out *sectionWriter) (of namesFile, err error) {
	path, size := s.names.File()
	of = namesFile{filepath.Base(path), size}
	f, err := s.fs.OpenFile(path, os.O_RDONLY)
	if err != nil {
		return of, err
	}
	defer f.Close()
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return of, err
	}
	defer encoder.Close()
	buf := make([]byte, min(nameChunk, size))
	for off := int64(0); off < size; off += int64(len(buf)) {
		buf = buf[:min(int64(len(buf)), size-off)]
		if n, err := f.ReadAt(buf, off); n < len(buf) {
			return of, fmt.Errorf("copy the names: %w", err)
		}
		section := appendNameHead(nil, of.name, off)
		out.section(nameSection, 0, encoder.EncodeAll(buf, section))
	}
	return of, nil
}

// appendNameHead appends what a section of names begins with: the name of the file, and where in it its bytes are.
func appendNameHead(dst []byte, name string, off int64) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(name)))
	dst = append(dst, name...)
	return binary.AppendUvarint(dst, uint64(off))
}

// parseNameSection returns the bytes of a section of names.
func parseNameSection(payload []byte, decoder *zstd.Decoder) (name string, off int64, bytes []byte, err error) {
	bad := errors.New("not a section of names")
	n, k := binary.Uvarint(payload)
	if k <= 0 || n > 255 || n > uint64(len(payload)-k) {
		return "", 0, nil, bad
	}
	name, payload = string(payload[k:k+int(n)]), payload[k+int(n):]
	at, k := binary.Uvarint(payload)
	if k <= 0 || at > 1<<62 || filepath.Base(name) != name {
		return "", 0, nil, bad
	}
	bytes, err = decoder.DecodeAll(payload[k:], nil)
	if err == nil && len(bytes) > nameChunk {
		err = bad
	}
	return name, int64(at), bytes, err
}

// namesFile is a file of names as it was once.
type namesFile struct {
	name string
	size int64
}

// openNames opens the names.
func (s *Store) openNames(ctx context.Context) (err error) {
	s.names, err = names.Open(ctx, s.fs, filepath.Join(s.dir, "names"))
	return err
}

// checkNames looks whether the names could be opened, err being why not, and whether they are all that the checkpoint
// knows of. If not, their file is made whole from it, and opened again.
func (s *Store) checkNames(ctx context.Context, err error) error {
	var damage *names.CorruptError
	at := &CorruptError{What: "the file of names, which was made whole from a checkpoint,"}
	switch {
	case errors.As(err, &damage):
		at.Path, at.Offset, at.Err = damage.Path, damage.Offset, damage.Err
	case err != nil:
		return err
	default:
		path, size := s.names.File()
		if known := s.namesThen; filepath.Base(path) < known.name || filepath.Base(path) == known.name && size < known.size {
			at.Path = filepath.Join(filepath.Dir(path), known.name)
			at.Offset, at.Err = size, fmt.Errorf("a part of its %d bytes is missing", known.size)
		}
	}
	if at.Err == nil {
		if r := s.names.Recovery(); r.Cut > 0 {
			s.cut(r.Path, r.Offset, r.Cut)
		}
		return nil
	}
	if s.names != nil {
		if err := s.names.Close(); err != nil {
			return err
		}
	}
	repaired, e := s.repairNames(at.Path)
	if !repaired {
		at.What = "the file of names"
		return errors.Join(at, e)
	}
	s.recovery.damage(at)
	return s.openNames(ctx)
}

// repairNames makes the file of names again, of what a checkpoint has of it and of what was added since. It is false if
// there is no such checkpoint.
func (s *Store) repairNames(path string) (bool, error) {
	all, err := checkpoints(s.fs, s.dir)
	if err != nil {
		return false, err
	}
	for _, number := range all {
		ok, err := s.repairNamesFrom(checkpointPath(s.dir, number), number, path)
		var damage *CorruptError
		if ok || err != nil && !errors.As(err, &damage) {
			return ok, err
		}
	}
	return false, nil
}

var errOtherNames = errors.New("a checkpoint with another file of names")

func (s *Store) repairNamesFrom(checkpoint string, number uint64, path string) (bool, error) {
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(2*nameChunk))
	if err != nil {
		return false, err
	}
	defer decoder.Close()
	err = replaceFile(s.fs, path, func(w io.Writer) error {
		end := int64(0)
		_, err := readCheckpoint(s.fs, checkpoint, number, func(kind, _ int, payload []byte) error {
			if kind != nameSection {
				return nil
			}
			name, off, bytes, err := parseNameSection(payload, decoder)
			switch {
			case err != nil:
				return err
			case name != filepath.Base(path) || off != end:
				return errOtherNames
			}
			end += int64(len(bytes))
			_, err = w.Write(bytes)
			return err
		})
		if err == nil && end == 0 {
			err = errOtherNames
		}
		if err != nil {
			return err
		}
		return copyRest(s.fs, path, end, w)
	})
	if errors.Is(err, errOtherNames) {
		return false, nil
	}
	return err == nil, err
}

// copyRest copies a file, if there is one, from an offset on.
func copyRest(f disk.FS, path string, from int64, w io.Writer) error {
	file, err := f.OpenFile(path, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	size, err := file.Size()
	if err != nil || size <= from {
		return err
	}
	_, err = io.Copy(w, io.NewSectionReader(file, from, size-from))
	return err
}
