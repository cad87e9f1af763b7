package volume

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"weir/series/disk/faulty"
)

// What is found after a loss of power is, of what was appended, a beginning: nothing is behind a gap.
func TestGap(t *testing.T) {
	gaps, said := 0, 0
	for seed := range uint64(60) {
		d := faulty.New()
		v, err := Open(d, "v", Options{Size: MinSize, Reserve: -1})
		if err != nil {
			t.Fatal(err)
		}
		rnd := rand.New(rand.NewPCG(seed, 1))
		durable := uint64(1)
		for n := range uint32(120) {
			b := make([]byte, 20_000)
			binary.LittleEndian.PutUint32(b, n)
			if _, _, err := v.Append(b); err != nil {
				t.Fatal(err)
			}
			if rnd.IntN(40) == 0 {
				if durable, err = v.Sync(); err != nil {
					t.Fatal(err)
				}
			}
			if rnd.IntN(10) == 0 {
				if err := v.Flush(); err != nil {
					t.Fatal(err)
				}
			}
		}
		c := d.Crash(seed)
		w, err := Open(c, "v", Options{Size: MinSize, Reserve: -1})
		if err != nil {
			t.Fatal(err)
		}
		next, gap := uint32(0), false
		_, err = w.Recover(0, durable, func(_ Address, _ int, p []byte) error {
			n := binary.LittleEndian.Uint32(p)
			gap = gap || n != next
			next = n + 1
			return nil
		}, func(e *CorruptError) { said++; t.Log(seed, e) })
		if err != nil {
			t.Fatal(err)
		}
		if gap {
			gaps++
		}
		v.Close()
		w.Close()
	}
	if gaps > 0 || said > 0 {
		t.Errorf("nodes behind a gap in %d of 60 cases; damage in %d", gaps, said)
	}
}
