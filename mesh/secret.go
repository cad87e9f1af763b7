package mesh

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
)

// LoadSecret reads a [Config.Secret] from a file, without the white space around it, so that it makes no
// difference whether an editor ended the line. A file that any user of the machine may read or
// change gets a line in the log; a nil logger means [slog.Default].
func LoadSecret(path string, logger *slog.Logger) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	// Windows has permissions of another kind.
	if mode := info.Mode().Perm(); mode&0o006 != 0 && runtime.GOOS != "windows" {
		cmp.Or(logger, slog.Default()).Warn("mesh: the secret is not secret: every user of this machine may read or change it", "file", path, "mode", mode.String())
	}
	secret, err := io.ReadAll(file)
	if err != nil {
		return nil, fmt.Errorf("read secret: %w", err)
	}
	if secret = bytes.TrimSpace(secret); len(secret) == 0 {
		return nil, fmt.Errorf("%s is empty", path)
	}
	return secret, nil
}
