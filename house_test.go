package weir_test

import (
	"bytes"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// floors lists the rooms from the top of the house to the ground. A package may
// import packages of the floors below its own, and of its own room.
var floors = [][]string{
	{"bench", "examples"},
	{"cmd"},
	{"graphflow", "differential"},
	{"graph", "timely", "series"},
	{"mesh"},
	{"flat"},
	{"internal"},
}

// maxLines is how long a file may grow before it holds more than one idea.
const maxLines = 600

type source struct {
	dir, name string
	imports   []string
	hasDoc    bool
	lines     int
}

// sources parses every non-test Go file of the module.
func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == "tools" || p != "." && strings.HasPrefix(d.Name(), ".")) {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), p, text, parser.ParseComments|parser.ImportsOnly)
		if err != nil {
			return err
		}
		s := source{dir: filepath.ToSlash(filepath.Dir(p)), name: filepath.Base(p), hasDoc: file.Doc != nil, lines: bytes.Count(text, []byte("\n"))}
		for _, spec := range file.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if rest, ours := strings.CutPrefix(name, "weir/"); ours {
				s.imports = append(s.imports, rest)
			}
		}
		all = append(all, s)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Fatal("no Go files found")
	}
	return all
}

// room is the first element of a package's path, and floor its number.
func floor(dir string) (room string, number int) {
	room, _, _ = strings.Cut(dir, "/")
	return room, slices.IndexFunc(floors, func(rooms []string) bool { return slices.Contains(rooms, room) })
}

func TestArrowsPointDown(t *testing.T) {
	for _, s := range sources(t) {
		room, from := floor(s.dir)
		if from < 0 {
			t.Errorf("%s: room %q stands on no floor: add it to floors", path.Join(s.dir, s.name), room)
			continue
		}
		for _, imported := range s.imports {
			other, to := floor(imported)
			if other != room && to <= from {
				t.Errorf("%s imports weir/%s, which is not below it", path.Join(s.dir, s.name), imported)
			}
		}
	}
}

func TestEveryPackageSaysWhatItIs(t *testing.T) {
	documented := map[string]bool{}
	for _, s := range sources(t) {
		documented[s.dir] = documented[s.dir] || s.hasDoc
	}
	for dir, ok := range documented {
		if !ok {
			t.Errorf("package %s has no package comment", dir)
		}
	}
}

func TestFilesHoldOneIdea(t *testing.T) {
	for _, s := range sources(t) {
		if s.lines > maxLines {
			t.Errorf("%s has %d lines; split it before %d", path.Join(s.dir, s.name), s.lines, maxLines)
		}
	}
}
