package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weir/series/text"
)

// An input ends with its context while nothing comes, and its reader has used all whole lines by then.
func TestInputEndsWhileNothingComes(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, in := io.Pipe()
	go io.WriteString(in, "time,host,v\n1,a,1\n2,a,2\n3,a")
	lines := &lineCounter{in: &input{ctx: ctx, in: out}}
	r := text.NewReader(lines, text.Options{})
	var points int
	var err error
	for err == nil {
		var rows []text.Row
		rows, err = r.Next()
		if points += len(rows); points == 2 {
			cancel()
		}
	}
	if !errors.Is(err, context.Canceled) || points != 2 || lines.lines != 3 {
		t.Errorf("%d points of %d lines, then %v; want 2 of 3, then %v", points, lines.lines, err, context.Canceled)
	}
}

// While nothing comes an input says so, once, and goes on when something comes.
func TestInputIdle(t *testing.T) {
	out, in := io.Pipe()
	idle := 0
	r := &input{ctx: t.Context(), in: out, idle: func() error {
		idle++
		go func() {
			io.WriteString(in, "late")
			in.Close()
		}()
		return nil
	}}
	if got, err := io.ReadAll(r); err != nil || string(got) != "late" || idle != 1 {
		t.Errorf("%q, %v, idle %d times; want %q, once idle", got, err, idle, "late")
	}
	full := errors.New("full")
	never, _ := io.Pipe()
	if _, err := (&input{ctx: t.Context(), in: never, idle: func() error { return full }}).Read(make([]byte, 1)); err != full {
		t.Errorf("%v, want %v", err, full)
	}
}

// What is read through an input is what there is.
func TestInputReadsAll(t *testing.T) {
	want := strings.Repeat("some line or other\n", 20_000)
	path := filepath.Join(t.TempDir(), "lines")
	if err := os.WriteFile(path, []byte(want), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := &lineCounter{in: &input{ctx: t.Context(), in: f}}
	got, err := io.ReadAll(lines)
	if err != nil || string(got) != want || lines.lines != 20_000 {
		t.Errorf("%d bytes of %d lines, %v; want %d of 20000", len(got), lines.lines, err, len(want))
	}
}
