package word

import "testing"

func TestQuick(t *testing.T) {
	var l Lexicons
	type s struct {
		A string
		B uint64
		C string
	}
	c, err := New[s](&l)
	if err != nil {
		t.Fatal(err)
	}
	x := s{"hello", 7, "there"}
	if c.Value(c.Word(x)) != x || c.Word(x) != 1 {
		t.Fatal(c.Value(c.Word(x)))
	}
	l.Sweep()
	if v, _ := l.Size(); v != 0 {
		t.Fatal(v)
	}
	i, _ := New[struct {
		A int32
		B uint16
	}](nil)
	t.Logf("%x", i.Word(struct {
		A int32
		B uint16
	}{-1, 3}))
}
