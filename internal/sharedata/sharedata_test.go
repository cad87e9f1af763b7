package sharedata

import (
	"os"
	"path/filepath"
	"testing"
)

func TestPathFromEnvironment(t *testing.T) {
	// root is asked once a process, so this is the only test of the package.
	dir := t.TempDir()
	t.Setenv(Variable, dir)
	file := filepath.Join(dir, "graphs", "g.el")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("0 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := Path(t, "graphs/g.el"); got != file {
		t.Errorf("found %s, want %s", got, file)
	}
	skipped := false
	t.Run("absent", func(t *testing.T) {
		defer func() { skipped = t.Skipped() }()
		Path(t, "graphs/absent.el")
	})
	if !skipped {
		t.Error("a test whose file is absent was not skipped")
	}
}
