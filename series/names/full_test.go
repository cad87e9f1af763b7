package names

import (
	"context"
	"fmt"
	"testing"

	"weir/series/disk/faulty"
)

// On a full disk names open as they are, and what is to be taken out of their file waits.
func TestOpenOnFullDisk(t *testing.T) {
	ctx := context.Background()
	d := faulty.New()
	s, err := Open(ctx, d, "names")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 1000 {
		if _, _, err := s.Add(fmt.Appendf(nil, "cpu host=%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	for id := range ID(900) {
		if _, err := s.Delete(id); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	const much = 1 << 40
	d.SetBudget(much)
	free, err := d.Free("names")
	if err != nil {
		t.Fatal(err)
	}
	for _, budget := range []int64{much - free, much} {
		d.SetBudget(budget)
		s, err := Open(ctx, d, "names")
		if err != nil {
			t.Fatal(err)
		}
		id, ok, err := s.Lookup([]byte("cpu host=950"))
		if s.Len() != 100 || id != 950 || !ok || err != nil {
			t.Fatalf("%d names; series %d, %v, %v", s.Len(), id, ok, err)
		}
		if err := s.Close(); err != nil && budget == much {
			t.Fatal(err)
		}
	}
}
