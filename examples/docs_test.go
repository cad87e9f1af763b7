package examples_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "put the programs into the pages of docs")

// TestDocs holds the programs of pages against those that are tested: those under a "file"
// mark must be the file, those under a "from" mark must occur in it, however
// far indented.
func TestDocs(t *testing.T) {
	for page, programs := range map[string]int{"../docs/timely.md": 3, "../docs/differential.md": 5} {
		testPage(t, page, programs)
	}
}

func testPage(t *testing.T, page string, programs int) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)<!-- (file|from): ([^ ]+) -->\n```go\n(.*?)```\n")
	count := 0
	got := block.ReplaceAllStringFunc(string(text), func(b string) string {
		count++
		found := block.FindStringSubmatch(b)
		kind, name, code := found[1], found[2], found[3]
		source, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(name)))
		if err != nil {
			t.Error(err)
			return b
		}
		if kind == "from" {
			if !strings.Contains(flush(string(source)), flush(code)) {
				t.Errorf("%s: not in %s:\n%s", page, name, code)
			}
			return b
		}
		return "<!-- file: " + name + " -->\n```go\n" + string(source) + "```\n"
	})
	if count < programs {
		t.Errorf("%s has %d marked programs, expected %d or more", page, count, programs)
	}
	if got == string(text) {
		return
	}
	if !*update {
		t.Fatalf("%s does not show its programs as they are: run go test ./examples -run Docs -update", page)
	}
	if err := os.WriteFile(page, []byte(got), 0o644); err != nil {
		t.Fatal(err)
	}
}

// flush is the text without what its lines are indented by.
func flush(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimLeft(line, "\t"))
	}
	return b.String()
}
