// Package mapfile maps files into memory, read-only, and views their bytes as
// typed slices without copying.
//
//	m, err := mapfile.Open("graph.weir")
//	targets, err := mapfile.View[uint32](m.Data()[4096:8192])
//
// A file that somebody truncates while it is mapped loses pages under the
// reader, and the next read of one is a fault (SIGBUS), which would end the
// program. [File.Protect] turns such a fault into an error. Code that checks a
// file before use runs inside it; code that walks what was checked need not,
// because weir itself never shortens a file in place: it writes a new one and
// renames it. Where the operating system cannot map files they are read into
// memory instead, and nothing of this can happen.
package mapfile

import (
	"fmt"
	"os"
	"runtime/debug"
	"unsafe"
)

// File is a file mapped, or read, into memory. Its methods may be called from
// several goroutines, Close only when the others have ended.
type File struct {
	path    string
	data    []byte
	release func() error
}

// Open maps the regular file at path.
func Open(path string) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		kind := "not a regular file"
		if info.IsDir() {
			kind = "a directory"
		}
		return nil, fmt.Errorf("map %s: it is %s; expected a file", path, kind)
	}
	size := int(info.Size())
	if int64(size) != info.Size() {
		return nil, fmt.Errorf("map %s: its %d bytes exceed this machine's address space", path, info.Size())
	}
	m := &File{path: path}
	if size == 0 {
		return m, nil
	}
	if m.data, m.release, err = mapBytes(f, size); err != nil {
		return nil, fmt.Errorf("map %s: %w", path, err)
	}
	return m, nil
}

// Of returns data, which is in memory already, as a File with the given path for
// messages. Views need data to be aligned for their elements, as what make
// returns is from 8 bytes on.
func Of(path string, data []byte) *File { return &File{path: path, data: data} }

// Path is the path that Open was given.
func (m *File) Path() string { return m.path }

// Data is the content. It must not be written to, and neither it nor a view of
// it may be used after Close.
func (m *File) Data() []byte { return m.data }

// Close gives the memory back. Closing twice does nothing.
func (m *File) Close() error {
	release := m.release
	m.data, m.release = nil, nil
	if release == nil {
		return nil
	}
	if err := release(); err != nil {
		return fmt.Errorf("unmap %s: %w", m.path, err)
	}
	return nil
}

// Protect calls f and returns its error. If f, on this goroutine, reads a part
// of the mapping that is no longer there, Protect returns an error that names the
// file and the offset. Other panics pass through.
func (m *File) Protect(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		if fault, ok := r.(interface{ Addr() uintptr }); ok && len(m.data) > 0 {
			start := uintptr(unsafe.Pointer(unsafe.SliceData(m.data)))
			// The last page is mapped in full, so the fault may lie behind the data.
			if at := fault.Addr() - start; at < uintptr(len(m.data))+uintptr(os.Getpagesize()) {
				err = fmt.Errorf("read %s: byte %d is no longer there: the file was truncated while in use, or its disk failed", m.path, at)
				return
			}
		}
		panic(r)
	}()
	return f()
}
