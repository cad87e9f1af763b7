package volume

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"testing"

	"weir/series/disk/faulty"
)

// The bytes of a volume are those that docs/formats-series.md describes.
func TestGolden(t *testing.T) {
	d := faulty.New()
	v, err := Open(d, "v", Options{Size: MinSize, Reserve: -1})
	if err != nil {
		t.Fatal(err)
	}
	at, length, err := v.Append([]byte("node"))
	if err != nil {
		t.Fatal(err)
	}
	if at != 1<<40|4096 || length != 12 {
		t.Errorf("the first node is at %#x and has %d bytes, want %#x and 12", at, length, 1<<40|uint64(4096))
	}
	if _, err := v.Sync(); err != nil {
		t.Fatal(err)
	}
	f, err := d.OpenFile("v/volume-00000001.wsv", os.O_RDONLY)
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 4096+12)
	if _, err := f.ReadAt(b, 0); err != nil {
		t.Fatal(err)
	}
	header := b[:64]
	const want = "8977 73766f0d0a1a 01000000 00000000 0100000000000000 0000100000000000"
	if got := fmt.Sprintf("%x %x %x %x %x %x", header[:2], header[2:8], header[8:12], header[12:16], header[16:24], header[24:32]); got != want {
		t.Errorf("the header begins with\n%s, want\n%s", got, want)
	}
	sum := crc32.MakeTable(crc32.Castagnoli)
	if got, want := binary.LittleEndian.Uint32(header[60:]), crc32.Checksum(header[:60], sum); got != want {
		t.Errorf("checksum %#x, want %#x", got, want)
	}
	if string(b[2048:2048+64]) != string(header) {
		t.Error("the header is not there a second time at 2048")
	}
	frame := b[4096:]
	place := binary.LittleEndian.AppendUint64(nil, at)
	place = binary.LittleEndian.AppendUint32(place, 4)
	wanted := append([]byte{4, 0, 0, 0xa7}, binary.LittleEndian.AppendUint32(nil, crc32.Checksum(append(place, "node"...), sum))...)
	if got := frame; string(got) != string(append(wanted, "node"...)) {
		t.Errorf("the frame is %x, want %x and the node", got, wanted)
	}
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
}
