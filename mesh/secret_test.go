package mesh

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A secret that everybody may read is used, and spoken of.
func TestLoadSecret(t *testing.T) {
	for _, c := range []struct {
		text   string
		mode   os.FileMode
		want   string
		failed string
		warned bool
	}{
		{"swordfish", 0o600, "swordfish", "", false},
		{" sword fish\r\n", 0o640, "sword fish", "", false},
		{"swordfish\n", 0o644, "swordfish", "", true},
		{"swordfish\n", 0o602, "swordfish", "", true},
		{" \n", 0o600, "", "is empty", false},
	} {
		path := filepath.Join(t.TempDir(), "secret")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, c.mode); err != nil { // whatever the umask is
			t.Fatal(err)
		}
		var log lockedBuffer
		got, err := LoadSecret(path, logger(&log))
		if c.failed != "" {
			contains(t, "load", err, c.failed, path)
		} else if err != nil || string(got) != c.want {
			t.Errorf("%q: got %q, %v, want %q", c.text, got, err, c.want)
		}
		warned := strings.Contains(log.String(), "not secret") && strings.Contains(log.String(), path)
		if warned != (c.warned && runtime.GOOS != "windows") || strings.Contains(log.String(), "fish") {
			t.Errorf("mode %v: the log says %q", c.mode, log.String())
		}
	}
	if _, err := LoadSecret(filepath.Join(t.TempDir(), "none"), nil); !os.IsNotExist(err) {
		t.Errorf("got %v for a file that does not exist", err)
	}
}
