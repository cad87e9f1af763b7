package graph

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// A pipe can be read once: what is looked at to find out what it is must not be
// missing from the graph.
func TestOpenPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	path := "/dev/fd/" + strconv.Itoa(int(r.Fd()))
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no names for open files here: %v", err)
	}
	go func() {
		defer w.Close()
		io.WriteString(w, "0 1\n1 2\n2 0\n")
	}()
	g, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if g.Edges != 3 {
		t.Errorf("%d edges of a pipe, want 3", g.Edges)
	}
}

// Weir's own file in a compressed file, or in a pipe, is told from a damaged text.
func TestOpenStoredAsText(t *testing.T) {
	dir := t.TempDir()
	stored, packed := filepath.Join(dir, "a.weir"), filepath.Join(dir, "a.weir.gz")
	edges := filepath.Join(dir, "a.txt")
	if err := os.WriteFile(edges, []byte("0 1\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	g, err := Convert(t.Context(), edges, stored, ConvertOptions{})
	if err != nil {
		t.Fatal(err)
	}
	g.Close()
	data, err := os.ReadFile(stored)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(data)
	z.Close()
	if err := os.WriteFile(packed, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), packed, Options{}); err == nil || !strings.Contains(err.Error(), "need a plain file") {
		t.Errorf("a compressed file of weir: %v", err)
	}
}
