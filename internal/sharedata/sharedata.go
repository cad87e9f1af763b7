// Package sharedata finds the real graphs and reference answers that tests
// compare with but the repository does not carry.
package sharedata

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// Variable names the folder in the environment. Without it, the folder
// shared/data is looked for beside the repository, and beside its parents.
const Variable = "WEIR_SHARED_DATA"

// Path is the path of a file of the shared data, such as "graphs/wiki-Vote.txt.gz".
// It skips the test, with the reason, where the file is not there.
func Path(t testing.TB, name string) string {
	t.Helper()
	dir := root()
	if dir == "" {
		t.Skipf("no shared data on this machine: set %s to its folder", Variable)
	}
	path := filepath.Join(dir, filepath.FromSlash(name))
	if _, err := os.Stat(path); err != nil {
		t.Skipf("shared data is incomplete: %v", err)
	}
	return path
}

// root is the folder, or "" where there is none.
var root = sync.OnceValue(func() string {
	if dir := os.Getenv(Variable); dir != "" {
		return dir
	}
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	for {
		candidate := filepath.Join(dir, "shared", "data")
		if info, err := os.Stat(candidate); err == nil && info.IsDir() {
			return candidate
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
})
