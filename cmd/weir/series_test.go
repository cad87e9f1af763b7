package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weir/series"
	"weir/series/disk/faulty"
)

// Who asks a store on a full disk gets an answer and no error, though what is in the log has no room elsewhere. Who
// stores something gets one.
func TestStoreOnFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "store.wst"), nil, 0o666); err != nil { // so that it is taken for a store
		t.Fatal(err)
	}
	for _, create := range []bool{false, true} {
		var told bytes.Buffer
		disk := faulty.New()
		err := (&app{stderr: &told}).withStore(t.Context(), dir, series.Options{FS: disk, Reserve: -1}, create, func(st *series.Store) error {
			w := st.Writer()
			id, err := w.Series("cpu host=a")
			for i := range int64(1000) {
				err = errors.Join(err, w.Add(id, i, float64(i)))
			}
			err = errors.Join(err, w.Commit(context.Background()))
			disk.SetBudget(0)
			return err
		})
		if create != errors.Is(err, series.ErrFull) {
			t.Errorf("create %v: %v", create, err)
		}
		if !create && !strings.Contains(told.String(), "it stays in the log") {
			t.Errorf("%q is told; want that it stays in the log", &told)
		}
	}
}
