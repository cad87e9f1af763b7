package mesh

import (
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"
)

// Long names that differ far behind are told by where they differ.
func TestAbridged(t *testing.T) {
	long := "progress of dataflow x: " + strings.Repeat("map → filter, ", 100)
	for _, c := range [][2]string{{"a", "b"}, {long + "left", long + "right, more"}, {long, long + "more"}, {"left" + long, "right" + long}, {strings.Repeat("é", 300), strings.Repeat("é", 299) + "a"}} {
		a, b := abridged(c[0], c[1])
		if a == b || max(len(a), len(b)) > maxName+len("…") || !utf8.ValidString(a+b) {
			t.Errorf("%q and %q", a, b)
		}
	}
	if a, b := abridged(long+"left", long+"right"); !strings.HasPrefix(a, long[:30]) || !strings.HasSuffix(a, "left") || !strings.HasSuffix(b, "right") {
		t.Errorf("%q and %q do not begin with what they have in common and end with the difference", a, b)
	}
}

// A process that hears from another that a third is lost says so once.
func TestLostIsSaidOnce(t *testing.T) {
	meshes, _ := startCluster(t, loopback(t, 3, 1))
	address := meshes[0].address(2)
	meshes[0].Fail(&PeerLostError{Process: 2, Address: address, Cause: io.ErrUnexpectedEOF})
	<-meshes[1].down
	// Process 2 may hear of it before process 1 does, and be the one that process 1 hears it from.
	first := "lost process 2 (" + address + "): process 0: unexpected EOF"
	second := "lost process 0 (" + meshes[1].address(0) + "): process 2: it lost this process: process 0: unexpected EOF"
	lost, ok := errors.AsType[*PeerLostError](meshes[1].Err())
	if !ok || lost.Error() != first && lost.Error() != second {
		t.Errorf("process 1: %v; want %s, or %s", meshes[1].Err(), first, second)
	}
	<-meshes[2].down
	contains(t, "process 2", meshes[2].Err(), "it lost this process: process ", "process 0: unexpected EOF") // it may hear it from process 1
	for _, m := range meshes {
		m.Close()
	}
}
