package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"weir/internal/progress"
)

// idleAfter is how long nothing comes before what has come is stored.
const idleAfter = time.Second

// await is what f returns, or the error of ctx if that ends first: then f goes on without anybody who waits for it. While
// it takes long idle is called, once, unless it is nil; its error ends the waiting as well.
func await[T any](ctx context.Context, f func() (T, error), idle func() error) (none T, err error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		v, err := f()
		done <- result{v, err}
	}()
	var long <-chan time.Time
	if idle != nil {
		timer := time.NewTimer(idleAfter)
		defer timer.Stop()
		long = timer.C
	}
	for {
		select {
		case r := <-done:
			return r.value, r.err
		case <-ctx.Done():
			return none, ctx.Err()
		case <-long:
			if err := idle(); err != nil {
				return none, err
			}
		}
	}
}

// input is a file or standard input. It can be read until ctx ends, even while nothing comes, as from a pipe.
type input struct {
	ctx   context.Context
	in    io.Reader
	stage *progress.Stage
	idle  func() error // is called when nothing has come for some time; may be nil

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
		n := 0
		n, r.err = await(r.ctx, func() (int, error) { return r.in.Read(r.buf[:]) }, r.idle)
		r.rest = r.buf[:n]
		r.stage.Add(int64(n))
		if n == 0 {
			return 0, r.err
		}
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
