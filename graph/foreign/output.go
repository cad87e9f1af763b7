package foreign

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"syscall"

	"weir/internal/mapfile"
)

// output is a file being written under a temporary name.
type output struct {
	*bufio.Writer
	path string
	file *os.File
}

// create begins one output for each path. The caller ends them with commit, or
// with abandon, which does nothing after commit.
func create(paths ...string) (outputs, error) {
	if err := mapfile.HostOrder(); err != nil {
		return nil, fmt.Errorf("create %s: %w", paths[0], err)
	}
	var all outputs
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
			all.abandon()
			return nil, fmt.Errorf("create %s: it exists and is not a regular file", path)
		}
		f, err := os.OpenFile(fmt.Sprintf("%s.%08x.tmp", path, rand.Uint32()), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err != nil {
			all.abandon()
			return nil, fmt.Errorf("create %s: %w", path, err)
		}
		all = append(all, &output{bufio.NewWriterSize(f, 1<<20), path, f})
	}
	return all, nil
}

type outputs []*output

// commit flushes all files and gives them their names.
func (all outputs) commit() error {
	for _, o := range all {
		if err := errors.Join(o.Flush(), o.file.Close()); err != nil {
			return o.failed(err)
		}
	}
	for _, o := range all {
		if err := os.Rename(o.file.Name(), o.path); err != nil {
			return o.failed(err)
		}
		o.file = nil
	}
	return nil
}

// abandon removes what was not committed.
func (all outputs) abandon() {
	for _, o := range all {
		if o.file != nil {
			// The file is being thrown away: that it cannot be closed loses nothing.
			_ = o.file.Close()
			_ = os.Remove(o.file.Name())
			o.file = nil
		}
	}
}

func (o *output) failed(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("write %s: the disk is full, or a quota is reached: %w", o.path, err)
	}
	return fmt.Errorf("write %s: %w", o.path, err)
}

// write appends the elements of v as they lie in memory.
func write[T any](o *output, v []T) error {
	if _, err := o.Write(mapfile.Bytes(v)); err != nil {
		return o.failed(err)
	}
	return nil
}
