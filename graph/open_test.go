package graph

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"weir/graph/text"
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

// Few bytes can ask for more vertices than there is memory: an error, not the end.
func TestTooManyVertices(t *testing.T) {
	most := int64(4_294_967_295)
	if machineMemory() >= most*leastPerVertex || int64(int(most)) != most {
		t.Skip("this machine could hold them, or cannot even count them")
	}
	dir := t.TempDir()
	for name, c := range map[string]struct {
		content string
		opt     text.Options
	}{
		"kept.txt": {"0 4294967294\n", text.Options{KeepIDs: true}},
		"said.txt": {"0 1\n", text.Options{Vertices: int(most)}},
		"said.mtx": {fmt.Sprintf("%%%%MatrixMarket matrix coordinate pattern general\n%d %d 1\n1 2\n", most, most), text.Options{}},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(c.content), 0o666); err != nil {
			t.Fatal(err)
		}
		opt := Options{Text: c.opt}
		if _, err := Open(t.Context(), path, opt); err == nil || !strings.Contains(err.Error(), "4294967295 vertices, which need 47 GiB") {
			t.Errorf("%s: %v", name, err)
		}
		out := filepath.Join(dir, "out.weir")
		if _, err := Convert(t.Context(), path, out, ConvertOptions{Options: opt}); err == nil || !strings.Contains(err.Error(), "which need") {
			t.Errorf("convert %s: %v", name, err)
		}
	}
}
