package store

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weir/graph/order"
)

var update = flag.Bool("update", false, "write testdata/tiny.weir and its dump in docs/formats.md anew")

const (
	goldenFile  = "testdata/tiny.weir"
	formatsPage = "../../docs/formats.md"
	dumpBegin   = "<!-- dump of graph/store/testdata/tiny.weir -->\n```\n"
	dumpEnd     = "```\n<!-- end of dump -->\n"
)

// tiny is the graph of the worked example in docs/formats.md.
var tiny = []edge{{0, 1, 1}, {0, 2, 0.5}, {2, 0, 2}, {2, 2, 1}}

func writeTiny(t *testing.T, path string) {
	ctx := context.Background()
	rows := rowsOf(3, tiny, false, true)
	h, err1 := order.BuildHilbert(ctx, rows, 1)
	z, err2 := order.Compress(ctx, h, 1)
	w, err3 := Create(path)
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	w.Meta = Meta{Vertices: 3, Edges: 4, SelfLoops: 1, Sorted: true, Source: "tiny.wel", Tool: "weir"}
	if err := errors.Join(w.WriteCSR(ctx, rows), w.WriteHilbert(ctx, h), w.WriteCompressed(ctx, z), w.Close()); err != nil {
		t.Fatal(err)
	}
}

// dump shows the bytes of each part of a file; a star stands for lines of zeros.
func dump(f *File) string {
	var b strings.Builder
	for _, r := range f.Layout() {
		if r.What == "padding" {
			continue
		}
		fmt.Fprintf(&b, "%s: bytes %d to %d\n", r.What, r.Offset, r.Offset+r.Length-1)
		skipped := false
		for at := r.Offset; at < r.Offset+r.Length; at += 16 {
			line := f.data[at:min(at+16, r.Offset+r.Length)]
			if len(bytes.Trim(line, "\x00")) == 0 && r.Length > 64 {
				if !skipped {
					b.WriteString("*\n")
				}
				skipped = true
				continue
			}
			skipped = false
			text := bytes.Clone(line)
			for i, c := range text {
				if c < ' ' || c > '~' {
					text[i] = '.'
				}
			}
			fmt.Fprintf(&b, "%08x  %-47s  |%s|\n", at, fmt.Sprintf("% x", line), text)
		}
	}
	return b.String()
}

// TestGolden: files do not change without notice, old ones can be read, and the
// page on formats shows what is so.
func TestGolden(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tiny.weir")
	writeTiny(t, path)
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(goldenFile, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("the tiny graph became another file than %s (go test -update writes it anew)", goldenFile)
	}
	f, err := Open(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Verify(context.Background(), 1); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(formatsPage)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok1 := strings.Cut(string(page), dumpBegin)
	shown, after, ok2 := strings.Cut(rest, dumpEnd)
	if !ok1 || !ok2 {
		t.Fatalf("%s has no dump between %q and %q", formatsPage, dumpBegin, dumpEnd)
	}
	if *update {
		shown = dump(f)
		if err := os.WriteFile(formatsPage, []byte(before+dumpBegin+shown+dumpEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if shown != dump(f) {
		t.Errorf("%s shows another dump than\n%s", formatsPage, dump(f))
	}
}
