package flat_test

import (
	"encoding/binary"
	"errors"
	"runtime"
	"strings"
	"testing"

	"weir/flat"
)

// craft returns a frame of T whose header says count and whose body is body.
func craft[T any](count uint64, body ...uint64) []byte {
	b := flat.Append[T](nil, nil)
	binary.NativeEndian.PutUint64(b[8:], count)
	for _, w := range body {
		b = binary.NativeEndian.AppendUint64(b, w)
	}
	binary.NativeEndian.PutUint64(b[16:], uint64(len(b)))
	return b
}

func TestHostileFrames(t *testing.T) {
	const none, huge, twos = 1<<64 - 1, 1 << 60, 0x0202020202020202
	type in = func([]byte) error
	u64 := in(func(b []byte) error { _, _, err := flat.Decode[uint64](b); return err })
	str := in(func(b []byte) error { _, _, err := flat.Decode[string](b); return err })
	boo := in(func(b []byte) error { _, _, err := flat.Decode[bool](b); return err })
	rec := in(func(b []byte) error { _, _, err := flat.Decode[[]record](b); return err })
	ptr := in(func(b []byte) error { _, _, err := flat.Decode[*uint64](b); return err })
	nop := in(func(b []byte) error { _, _, err := flat.Decode[[]struct{}](b); return err })
	pad := in(func(b []byte) error { _, _, err := flat.Decode[padded](b); return err })

	swapped := craft[uint64](0)
	swapped[0], swapped[1], swapped[2], swapped[3] = swapped[3], swapped[2], swapped[1], swapped[0]
	version := craft[uint64](0)
	binary.NativeEndian.PutUint32(version, 0x026c6677)
	wrong := craft[uint64](0)
	wrong[1] = 0
	odd := craft[uint64](0)
	binary.NativeEndian.PutUint64(odd[16:], 25)
	tiny := craft[uint64](0)
	binary.NativeEndian.PutUint64(tiny[16:], 16)
	endless := craft[uint64](1, 1)
	binary.NativeEndian.PutUint64(endless[16:], none-7)

	for _, c := range []struct {
		name string
		b    []byte
		f    in
		is   error
		says string
	}{
		{"empty", nil, u64, flat.ErrShort, "0 bytes"},
		{"cut", craft[uint64](1, 7)[:30], u64, flat.ErrShort, "30 bytes of 32"},
		{"other byte order", swapped, u64, flat.ErrType, "byte order"},
		{"other version", version, u64, flat.ErrType, "version 2"},
		{"magic", wrong, u64, flat.ErrCorrupt, "begins with"},
		{"odd length", odd, u64, flat.ErrCorrupt, "its length is 25"},
		{"tiny length", tiny, u64, flat.ErrCorrupt, "its length is 16"},
		{"endless", endless, u64, flat.ErrShort, ""},
		{"count too large", craft[uint64](3, 1, 2), u64, flat.ErrCorrupt, "3 elements of at least 8 bytes, 16 bytes left"},
		{"count overflows", craft[uint64](huge*2+2, 1, 2), u64, flat.ErrCorrupt, "16 bytes left"},
		{"count too small", craft[uint64](1, 1, 2), u64, flat.ErrCorrupt, "the frame does not"},
		{"bytes behind nil", craft[uint64](none, 1), u64, flat.ErrCorrupt, "nil"},
		{"string too long", craft[string](1, 9, 0), str, flat.ErrCorrupt, "a string of 9 bytes, 8 bytes left"},
		{"string of -1", craft[string](1, none, 0), str, flat.ErrCorrupt, "a string of"},
		{"strings overflow", craft[string](2, 8, none-7, 0), str, flat.ErrCorrupt, "a string of"},
		{"strings beyond", craft[string](huge), str, flat.ErrCorrupt, "elements"},
		{"boolean", craft[bool](8, 0x0101010101010201), boo, flat.ErrCorrupt, "boolean"},
		{"boolean in a struct", craft[padded](1, twos, twos, twos, twos, twos), pad, flat.ErrCorrupt, "boolean"},
		{"inner count", craft[[]record](1, 2, 1, 0, 1), rec, flat.ErrCorrupt, "2 elements of at least 16 bytes"},
		{"inner count overflows", craft[[]record](1, huge, 1, 0, 1), rec, flat.ErrCorrupt, "16 bytes, 24"},
		{"inner string", craft[[]record](1, 1, 1, 100, 1), rec, flat.ErrCorrupt, "string of 100"},
		{"pointer", craft[*uint64](1, 2, 0), ptr, flat.ErrCorrupt, "pointer marked 2"},
		{"nothing, often", craft[[]struct{}](1, huge, 0), nop, flat.ErrCorrupt, "elements of at least 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.f(c.b)
			if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %v that says %q", err, c.is, c.says)
			}
		})
	}
}

// A frame that is refused late may not make Decode allocate much more than it is long.
func TestAllocationIsBounded(t *testing.T) {
	const n = 1 << 14
	body := make([]uint64, 2*n) // empty strings and slices: 8 bytes become 16 and 24
	strs, slcs, bad := craft[string](2*n, body...), craft[[][]record](2*n, body...), craft[[]record](2*n+1, body...)
	for name, f := range map[string]func() error{
		"strings": func() error { _, _, err := flat.Decode[string](strs); return err },
		"slices":  func() error { _, _, err := flat.Decode[[][]record](slcs); return err },
		"refused": func() error { _, _, err := flat.Decode[[]record](bad); return err },
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := f(); (err != nil) != (name == "refused") {
			t.Errorf("%s: %v", name, err)
		}
		runtime.ReadMemStats(&after)
		if made, most := after.TotalAlloc-before.TotalAlloc, uint64(4*len(strs)+1<<14); made > most {
			t.Errorf("%s: %d bytes allocated for a frame of %d", name, made, len(strs))
		}
	}
}

func FuzzDecode(f *testing.F) {
	heads := make([][]byte, len(subjects))
	for i, s := range subjects {
		seeds := s.seeds()
		heads[i] = seeds[0]
		for _, seed := range seeds {
			f.Add(uint8(i), seed)
		}
	}
	f.Fuzz(func(t *testing.T, kind uint8, src []byte) {
		i := int(kind) % len(subjects)
		// Most inputs would end at the header. Mend it, so that they go on.
		if head := heads[i]; len(src) >= len(head) && src[0] != 0 {
			src = append(head[:8:8], src[8:]...)
			binary.NativeEndian.PutUint64(src[16:], uint64(len(src))&^7)
		}
		subjects[i].survive(t, src)
	})
}
