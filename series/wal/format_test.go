package wal

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"testing"

	"weir/series/disk"
	"weir/series/disk/faulty"
)

// TestGolden: the bytes are those of docs/formats-series.md, and stay so.
func TestGolden(t *testing.T) {
	const want = "8977736c6f0d0a1a0100000001000000000000009aac0693" + // header
		"040000a8df215384020177656972" + // frame: "weir" of stream 0102
		"040000a92870305d000026000000" + // mark: durable below byte 38
		"000000a8b89ce4160201" // frame: nothing, of stream 0102
	d := faulty.New()
	l, err := Open(d, "d", Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{"weir", ""} {
		lsn, err := l.Append(0x0102, []byte(p))
		if err == nil {
			err = l.Commit(ctx, lsn)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	f, err := d.OpenFile("d/log-00000001.wsl", os.O_RDONLY)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]byte, l.Size())
	if _, err := f.ReadAt(got, 0); err != nil {
		t.Fatal(err)
	}
	if hex.EncodeToString(got) != want {
		t.Errorf("%x, want %s", got, want)
	}
	if err := errors.Join(f.Close(), l.Close()); err != nil {
		t.Fatal(err)
	}
}

// FuzzFrames reads frames from any bytes: those that are taken are written the same.
func FuzzFrames(f *testing.F) {
	frame := func(off int64, p string) []byte {
		head := frameHead(kindData, 3, len(p))
		b := append(head[:], p...)
		putSum(b, bind(checksumOf(b), b, 1, off))
		return b
	}
	one := frame(headerSize, "weir")
	mark := make([]byte, markSize)
	putMark(mark, headerSize+int64(len(one)))
	putSum(mark, bind(checksumOf(mark), mark, 1, headerSize+int64(len(one))))
	f.Add([]byte{})
	f.Add(one)
	f.Add(append(bytes.Clone(one), mark...))
	f.Add(append(bytes.Clone(one), one...)) // the second is in the wrong place
	f.Add(mark)
	f.Add([]byte("\xff\xff\xff\xa8 more than there is"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := frameReader{r: bufio.NewReaderSize(bytes.NewReader(b), 16), number: 1, off: headerSize}
		var again []byte
		for {
			kind, stream, p, err := r.next()
			if err != nil {
				if err != io.EOF && !isDamage(err) {
					t.Fatal(err)
				}
				if err == io.EOF && len(again) != len(b) {
					t.Fatalf("the end after %d bytes of %d", len(again), len(b))
				}
				break
			}
			head := frameHead(kind, stream, len(p))
			at := len(again)
			again = append(append(again, head[:]...), p...)
			putSum(again[at:], bind(checksumOf(again[at:]), head[:], 1, headerSize+int64(at)))
		}
		if !bytes.HasPrefix(b, again) || r.off != headerSize+int64(len(again)) {
			t.Fatalf("%x is read as %x", b, again)
		}
	})
}

func BenchmarkCommit(b *testing.B) {
	l, err := Open(disk.OS(), b.TempDir(), Options{Sync: Interval})
	if err != nil {
		b.Fatal(err)
	}
	p := make([]byte, 256)
	b.SetBytes(int64(len(p)))
	b.ReportAllocs()
	for b.Loop() {
		lsn, err := l.Append(1, p)
		if err == nil {
			err = l.Commit(ctx, lsn)
		}
		if err == nil && lsn%(1<<16) == 0 {
			err = l.Release(l.Segment())
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		b.Fatal(err)
	}
}

// checksumOf is the checksum of a frame that is not bound to a place.
func checksumOf(frame []byte) uint32 { return crc32.Checksum(frame[8:], castagnoli) }
