package main

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// sink is a file that appears under its name only when it is complete.
type sink struct {
	*bufio.Writer
	path, temporary string
	file            *os.File
	packer          io.WriteCloser // nil if not compressed
}

// newSink begins the file at path; names that end in .gz or .zst are compressed.
// The caller ends it with commit, or with abort, which does nothing afterwards.
func newSink(path string) (*sink, error) {
	s := &sink{path: path}
	var err error
	if info, statErr := os.Stat(path); statErr == nil && !info.Mode().IsRegular() {
		s.file, err = os.OpenFile(path, os.O_WRONLY, 0) // a device or a pipe: as it comes
	} else {
		s.temporary = filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.%08x.tmp", filepath.Base(path), rand.Uint32()))
		s.file, err = os.OpenFile(s.temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	}
	if err != nil {
		if e, ok := errors.AsType[*fs.PathError](err); ok {
			err = e.Err // without the temporary name
		}
		return nil, fmt.Errorf("write %s: %w", path, err)
	}
	var w io.Writer = s.file
	switch filepath.Ext(path) {
	case ".gz":
		s.packer = gzip.NewWriter(s.file)
	case ".zst":
		if s.packer, err = zstd.NewWriter(s.file); err != nil {
			s.abort()
			return nil, fmt.Errorf("write %s: %w", path, err)
		}
	}
	if s.packer != nil {
		w = s.packer
	}
	s.Writer = bufio.NewWriterSize(w, 1<<16)
	return s, nil
}

// commit completes the file.
func (s *sink) commit() error {
	err := s.Flush()
	if s.packer != nil {
		err = errors.Join(err, s.packer.Close())
	}
	err = errors.Join(err, s.file.Close())
	s.file = nil
	if s.temporary != "" {
		if err == nil {
			err = os.Rename(s.temporary, s.path)
		}
		if err != nil {
			_ = os.Remove(s.temporary) // the first error is the one to tell
		}
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", s.path, err)
	}
	return nil
}

func (s *sink) abort() {
	if s.file == nil {
		return
	}
	_ = s.file.Close()
	if s.temporary != "" {
		_ = os.Remove(s.temporary)
	}
}

// writeFile lets f write the file at path.
func writeFile(path string, f func(*bufio.Writer) error) error {
	s, err := newSink(path)
	if err != nil {
		return err
	}
	defer s.abort()
	if err := f(s.Writer); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return s.commit()
}

// extension is the end of a file's name, that of a compression left out.
func extension(path string) string {
	path = strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(path), ".gz"), ".zst")
	return filepath.Ext(path)
}
