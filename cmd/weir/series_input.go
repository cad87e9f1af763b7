package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"weir/internal/progress"
)

// await is what f returns, or the error of ctx if that ends first: then f goes on without anybody who waits for it.
func await[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		v, err := f()
		done <- result{v, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// input is a file or standard input. It can be read until ctx ends, even while nothing comes, as from a pipe.
type input struct {
	ctx   context.Context
	in    io.Reader
	stage *progress.Stage

	buf  [64 << 10]byte
	rest []byte // of buf, to be handed out
	err  error  // that follows
}

func (r *input) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		if r.err == nil {
			r.err = r.ctx.Err()
		}
		if r.err != nil {
			return 0, r.err
		}
		var n int
		n, r.err = await(r.ctx, func() (int, error) { return r.in.Read(r.buf[:]) })
		r.rest = r.buf[:n]
		r.stage.Add(int64(n))
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// lineCounter counts the ends of lines that are read through it.
type lineCounter struct {
	in    io.Reader
	lines int64
}

func (c *lineCounter) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	c.lines += int64(bytes.Count(p[:n], []byte{'\n'}))
	return n, err
}

// inputName is what a file is called in messages.
func inputName(path string) string {
	if path == "-" {
		return "standard input"
	}
	return path
}

// checkFiles says which of the files cannot be read, before the first of them is.
func checkFiles(paths []string) error {
	var all []error
	for _, path := range paths {
		if path == "-" {
			continue
		}
		info, err := os.Stat(path)
		switch {
		case err != nil:
		case info.IsDir():
			err = fmt.Errorf("open %s: it is a directory, expected a file", path)
		case info.Mode().IsRegular(): // to open a pipe is to wait for who writes to it
			var f *os.File
			if f, err = os.Open(path); err == nil {
				err = f.Close()
			}
		}
		all = append(all, err)
	}
	return errors.Join(all...)
}
