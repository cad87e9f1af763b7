package word_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"weir/differential/word"
)

// FuzzWords takes the input for values of several types, and for strings: each byte
// says how long the next one is.
func FuzzWords(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("\x00\x01a\x02ab\x01a\xff"))
	f.Add(bytes.Repeat([]byte{0x80, 0xff, 0}, 20))
	f.Fuzz(func(t *testing.T, data []byte) {
		var l word.Lexicons
		fuzzStrings(t, &l, data)
		fuzzNumbers[[8]byte](t, data)
		fuzzNumbers[[3]int16](t, data)
		fuzzNumbers[float64](t, data)
		fuzzNumbers[[2]float32](t, data)
		fuzzNumbers[int64](t, data)
		fuzzNumbers[pair48](t, data)
		fuzzNumbers[triple](t, data)
	})
}

func fuzzNumbers[T comparable](t *testing.T, data []byte) {
	c := codec[T](t, nil)
	for ; len(data) >= 16; data = data[8:] {
		var x, y T
		if _, err := binary.Decode(data, binary.LittleEndian, &x); err != nil {
			t.Fatal(err)
		}
		if _, err := binary.Decode(data[8:], binary.LittleEndian, &y); err != nil {
			t.Fatal(err)
		}
		v, w := c.Word(x), c.Word(y)
		if !bytes.Equal(model(c.Value(v)), model(x)) {
			t.Fatalf("%#v came back as %#v", x, c.Value(v))
		}
		if order := bytes.Compare(model(x), model(y)); order < 0 != (v < w) || order == 0 != (v == w) {
			t.Fatalf("%#v and %#v compare %d, their words are %#x and %#x", x, y, order, v, w)
		}
	}
}

func fuzzStrings(t *testing.T, l *word.Lexicons, data []byte) {
	c, pairs := codec[string](t, l), codec[[2]string](t, l)
	words, pairWords := map[string]uint64{}, map[[2]string]uint64{}
	defer c.Hold(func(mark func(w uint64)) {
		for _, w := range words {
			mark(w)
		}
	})()
	last := ""
	for len(data) > 0 {
		n := min(int(data[0]), len(data)-1)
		s := string(data[1 : 1+n])
		words[s] = c.Word(s)
		p := [2]string{last, s}
		pairWords[p] = pairs.Word(p)
		if n == 1 {
			l.Sweep() // forgets all pairs
			clear(pairWords)
		}
		last, data = s, data[1+n:]
	}
	seen := map[uint64]bool{}
	for s, w := range words {
		if c.Value(w) != s || c.Word(s) != w || seen[w] {
			t.Fatalf("the word of %q was %d, is %d; the value of that is %q", s, w, c.Word(s), c.Value(w))
		}
		seen[w] = true
	}
	for p, w := range pairWords {
		if pairs.Value(w) != p || pairs.Word(p) != w {
			t.Fatalf("the word of %q was %d, is %d; the value of that is %q", p, w, pairs.Word(p), pairs.Value(w))
		}
	}
}
