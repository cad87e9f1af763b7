package wal

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
)

// The files are described in docs/formats-series.md.
const (
	magic      = "\x89wslo\r\n\x1a"
	version    = 1
	headerSize = 24

	frameSize = 10 // bytes of a frame before the payload
	markSize  = frameSize + 4

	kindData = 0xa8
	kindMark = 0xa9 // the payload is an offset below which the segment was durable when the mark was written
)

// markSign is what a mark begins with.
const markSign = "\x04\x00\x00\xa9"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

func appendHeader(dst []byte, number uint32) []byte {
	from := len(dst)
	dst = append(dst, magic...)
	dst = binary.LittleEndian.AppendUint32(dst, version)
	dst = binary.LittleEndian.AppendUint32(dst, number)
	dst = binary.LittleEndian.AppendUint32(dst, 0)
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[from:], castagnoli))
}

func checkHeader(b []byte, number uint32) error {
	switch {
	case len(b) < headerSize:
		return fmt.Errorf("a header of %d bytes; expected %d", len(b), headerSize)
	case string(b[:8]) != magic:
		return fmt.Errorf("begins with %q, not with %q: this is no segment of a log", b[:8], magic)
	case crc32.Checksum(b[:headerSize-4], castagnoli) != binary.LittleEndian.Uint32(b[headerSize-4:]):
		return errors.New("the checksum of the header is wrong")
	}
	if n := binary.LittleEndian.Uint32(b[8:]); n != version {
		return fmt.Errorf("has version %d; this program reads version %d", n, version)
	}
	if n := binary.LittleEndian.Uint32(b[12:]); n != number {
		return fmt.Errorf("has number %d inside, but %d in its name", n, number)
	}
	return nil
}

// frameHead is what comes before a payload of n bytes, without the checksum.
func frameHead(kind byte, stream uint16, n int) (head [frameSize]byte) {
	binary.LittleEndian.PutUint32(head[:], uint32(kind)<<24|uint32(n))
	binary.LittleEndian.PutUint16(head[8:], stream)
	return head
}

func putSum(head []byte, sum uint32) { binary.LittleEndian.PutUint32(head[4:], sum) }

// payloadLength is that of the frame that a head belongs to.
func payloadLength(head []byte) int { return int(binary.LittleEndian.Uint32(head) & (1<<24 - 1)) }

// bind makes of the checksum of a frame's stream and payload the one of the frame at a place.
func bind(sum uint32, head []byte, number uint32, off int64) uint32 {
	var b [12]byte
	copy(b[:], head[:4])
	binary.LittleEndian.PutUint32(b[4:], number)
	binary.LittleEndian.PutUint32(b[8:], uint32(off))
	return crc32.Update(sum, castagnoli, b[:])
}

// putMark makes a mark of the first bytes of b, but for its place.
func putMark(b []byte, durable int64) {
	head := frameHead(kindMark, 0, markSize-frameSize)
	copy(b, head[:])
	binary.LittleEndian.PutUint32(b[frameSize:], uint32(durable))
	putSum(b, crc32.Checksum(b[8:markSize], castagnoli))
}

var (
	errFrame    = errors.New("there is no frame")
	errChecksum = errors.New("the checksum of a frame is wrong")
	errShort    = errors.New("a frame that is cut short")
)

// isDamage says whether a frame was read and is none, rather than not read.
func isDamage(err error) bool {
	return err == errFrame || err == errChecksum || err == errShort
}

// frameReader reads the frames of a segment from an offset on.
type frameReader struct {
	r      *bufio.Reader
	number uint32
	off    int64 // of the next frame
	buf    []byte
}

// next returns the next frame, whose payload is valid until the next call: io.EOF behind the last one, an error for
// which isDamage is true if there is none, or one of reading.
func (r *frameReader) next() (kind byte, stream uint16, payload []byte, err error) {
	var head [frameSize]byte
	if n, err := io.ReadFull(r.r, head[:]); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) && n > 0 {
			err = errShort
		}
		return 0, 0, nil, err
	}
	kind, n := head[3], payloadLength(head[:])
	if kind != kindData && kind != kindMark || n > MaxFrame || kind == kindMark && n != markSize-frameSize {
		return 0, 0, nil, errFrame
	}
	if cap(r.buf) < n {
		r.buf = make([]byte, n)
	}
	payload = r.buf[:n]
	if _, err := io.ReadFull(r.r, payload); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
			err = errShort
		}
		return 0, 0, nil, err
	}
	sum := crc32.Update(crc32.Checksum(head[8:], castagnoli), castagnoli, payload)
	if bind(sum, head[:], r.number, r.off) != binary.LittleEndian.Uint32(head[4:]) {
		return 0, 0, nil, errChecksum
	}
	r.off += int64(frameSize + n)
	return kind, binary.LittleEndian.Uint16(head[8:]), payload, nil
}
