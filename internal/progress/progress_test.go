package progress

import (
	"context"
	"slices"
	"testing"
)

type recorder struct{ log []string }

func (r *recorder) Begin(s *Stage) func() {
	r.log = append(r.log, "begin "+s.Name)
	return func() { r.log = append(r.log, "end "+s.Name) }
}

func TestStagesReachDisplay(t *testing.T) {
	var r recorder
	s := Start(With(t.Context(), &r), "parse", 10, Bytes)
	s.Add(3)
	s.Add(4)
	if s.Current() != 7 || s.Total != 10 || s.Unit != Bytes {
		t.Errorf("stage counts %d of %d in unit %d, want 7 of 10 in %d", s.Current(), s.Total, s.Unit, Bytes)
	}
	s.Done()
	if want := []string{"begin parse", "end parse"}; !slices.Equal(r.log, want) {
		t.Errorf("display saw %q, want %q", r.log, want)
	}
}

func TestNoDisplay(t *testing.T) {
	s := Start(context.Background(), "parse", 10, Bytes)
	s.Add(1) // must not fail: engines do not ask whether anyone watches
	s.Done()
	if s != nil {
		t.Error("a stage without a display should cost nothing")
	}
}
