package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// terminal opens a pseudo-terminal: what is written to the second file is read
// from the first.
func terminal(t *testing.T) (outside, inside *os.File) {
	t.Helper()
	outside, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no pseudo-terminals here:", err)
	}
	t.Cleanup(func() { outside.Close() })
	fd := int(outside.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 100})
	}
	if err != nil {
		t.Skip("no pseudo-terminals here:", err)
	}
	inside, err = os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudo-terminals here:", err)
	}
	return outside, inside
}

// onTerminal runs weir with its output on a terminal, perhaps interrupts it, and
// returns all that the terminal was sent.
func onTerminal(t *testing.T, interrupt time.Duration, args ...string) string {
	t.Helper()
	outside, inside := terminal(t)
	cmd := exec.Command(os.Args[0])
	cmd.Args = append([]string{"weir"}, args...) // the name by which TestMain knows what to be
	cmd.Stdout, cmd.Stderr = inside, inside
	cmd.Env = append(os.Environ(), "TERM=xterm")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	inside.Close()
	var seen bytes.Buffer
	done := make(chan error, 1)
	go func() {
		_, err := io.Copy(&seen, outside)
		done <- err
	}()
	if interrupt > 0 {
		time.Sleep(interrupt)
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
	}
	_ = cmd.Wait() // an interrupted command fails
	if err := <-done; err != nil && !errors.Is(err, syscall.EIO) {
		t.Fatal(err)
	}
	return seen.String()
}

func chain(t *testing.T, n int) string {
	t.Helper()
	var b strings.Builder
	for i := range n {
		b.WriteString(strconv.Itoa(i) + "\t" + strconv.Itoa(i+1) + "\n")
	}
	path := filepath.Join(t.TempDir(), "chain.tsv")
	if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestTerminalShowsTheTop(t *testing.T) {
	path := chain(t, 50)
	seen := onTerminal(t, 0, "graph", "pagerank", path)
	for _, want := range []string{"20  20 ", "20 of 51 shown", "pagerank: 20 iterations"} {
		if want == "20  20 " {
			want = "20  " // the last row
		}
		if !strings.Contains(seen, want) {
			t.Errorf("a terminal is not shown %q but:\n%s", want, seen)
		}
	}
	if strings.Contains(seen, "\n21 ") {
		t.Errorf("more than 20 rows:\n%s", seen)
	}
	if seen := onTerminal(t, 0, "graph", "pagerank", path, "--format", "vector"); !strings.Contains(seen, "would garble the terminal") {
		t.Errorf("a vector on a terminal:\n%q", seen)
	}
}

func TestProgressVanishes(t *testing.T) {
	path := chain(t, 3)
	args := []string{"graph", "pagerank", path, "--iterations", "2000000000"}
	seen := onTerminal(t, 1200*time.Millisecond, args...)
	for _, want := range []string{"pagerank", "edges/s", "%", " left"} {
		if !strings.Contains(seen, want) {
			t.Errorf("progress does not show %q but:\n%q", want, seen)
		}
	}
	// The last that was drawn is wiped before the message of the end.
	last := seen[strings.LastIndex(seen, "edges/s"):]
	if !strings.Contains(last, "\x1b[J") && !strings.Contains(last, "\x1b[0J") {
		t.Errorf("the bar is not wiped: %q", last)
	}
	if !strings.HasSuffix(seen, "weir: interrupted\r\n") {
		t.Errorf("the end is %q", last)
	}
	if seen := onTerminal(t, 1200*time.Millisecond, append(args, "--quiet")...); seen != "weir: interrupted\r\n" {
		t.Errorf("--quiet shows %q", seen)
	}
}

// A reader that has enough, as in "weir … | head -1", ends weir without a word.
func TestBrokenPipe(t *testing.T) {
	path := chain(t, 20000)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Args = []string{"weir", "graph", "pagerank", path, "--quiet"}
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = w, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	line := make([]byte, 8)
	if _, err := io.ReadFull(r, line); err != nil || string(line) != "id,rank\n" {
		t.Errorf("read %q, %v", line, err)
	}
	r.Close()
	if err := cmd.Wait(); err != nil || stderr.Len() != 0 {
		t.Errorf("ended with %v and said %q", err, stderr.String())
	}
}
