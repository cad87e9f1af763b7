package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"weir/series"
)

// Who interrupts a restore is told what is left of it.
func TestRestoreInterrupted(t *testing.T) {
	dir, to := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "restored")
	st, err := series.Open(t.Context(), dir, series.Options{})
	if err == nil {
		err = st.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var told bytes.Buffer
	cmd := (&app{stdout: bufio.NewWriter(&told), stderr: &told}).seriesRestoreCommand()
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs([]string{dir, to})
	if err := cmd.ExecuteContext(ctx); !errors.Is(err, context.Canceled) || !strings.Contains(told.String(), "restored is not whole; remove it") {
		t.Errorf("%v, and %q is told; want %v, and that it is not whole", err, &told, context.Canceled)
	}
	if st, err := series.Open(t.Context(), to, series.Options{}); err == nil {
		st.Close()
		t.Error("a copy that is not whole can be opened")
	}
}
