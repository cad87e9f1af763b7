package mesh

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

func TestFrameRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type frame struct {
			header
			number     uint64
			name, kind string
		}
		var frames []frame
		var b []byte
		for range rapid.IntRange(0, 5).Draw(t, "frames") {
			f := frame{
				header: header{
					kind:    frameKind(rapid.Uint32Range(1, uint32(frameKinds)-1).Draw(t, "kind")),
					channel: rapid.Uint32().Draw(t, "channel"),
					source:  rapid.Uint32().Draw(t, "source"),
					target:  rapid.Uint32().Draw(t, "target"),
				},
				number: rapid.Uint64().Draw(t, "number"),
				name:   rapid.String().Draw(t, "name"),
				kind:   rapid.String().Draw(t, "type"),
			}
			frames = append(frames, f)
			b = appendFrame(b, f.header, f.number, f.name, f.kind)
		}
		seal(b)
		for _, f := range frames {
			h, payload, size, err := parseFrame(b)
			if err != nil || payload == nil {
				t.Fatalf("parse: %v", err)
			}
			f.length = h.length
			var name, kind string
			number, err := parsePayload(payload, &name, &kind)
			if err != nil || h != f.header || number != f.number || name != f.name || kind != f.kind {
				t.Fatalf("got %+v %d %q %q (%v), expected %+v", h, number, name, kind, err, f)
			}
			for _, cut := range []int{0, headerSize, size - 1} {
				if _, payload, need, err := parseFrame(b[:cut]); err != nil || payload != nil || need <= cut {
					t.Fatalf("%d bytes of %d: payload %v, %d bytes needed, %v", cut, size, payload, need, err)
				}
			}
			b = b[size:]
		}
		if len(b) > 0 {
			t.Fatalf("%d bytes are left", len(b))
		}
	})
}

// Any bytes are parsed to a frame of their size or refused, and a changed bit is
// always found.
func FuzzFrame(f *testing.F) {
	good := appendFrame(nil, header{kind: frameOpen, channel: 3, source: 1}, 7, "edges", "[]uint64")
	seal(good)
	f.Add(good, uint(3))
	f.Add(good[:20], uint(0))
	f.Add(append(bytes.Clone(good), good...), uint(300))
	f.Fuzz(func(t *testing.T, b []byte, bit uint) {
		h, payload, size, err := parseFrame(b)
		if err != nil {
			return
		}
		if payload == nil {
			if size <= len(b) {
				t.Fatalf("nothing was parsed of %d bytes, but %d suffice", len(b), size)
			}
			return
		}
		if size != headerSize+len(payload) || size > len(b) || int(h.length) != len(payload) {
			t.Fatalf("a frame of %d bytes of %d with a payload of %d: %+v", size, len(b), len(payload), h)
		}
		var name, typ string
		parsePayload(payload, &name, &typ)
		if len(name)+len(typ) > len(payload) {
			t.Fatalf("texts of %d bytes in %d", len(name)+len(typ), len(payload))
		}
		changed := bytes.Clone(b)
		bit %= uint(size) * 8
		changed[bit/8] ^= 1 << (bit % 8)
		if _, payload, _, err := parseFrame(changed[:size]); err == nil && payload != nil {
			t.Fatalf("bit %d was changed and not found", bit)
		}
	})
}
