package mesh

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/zeebo/xxh3"
)

// A frame on a connection is a header of 32 bytes, little-endian, and a payload:
//
//	offset  bytes
//	0       8      xxh3 of all that follows
//	8       4      length of the payload, a multiple of 8
//	12      4      kind
//	16      4      channel
//	20      4      sending worker, counted within its process
//	24      4      receiving worker, counted within its process, or everyone
//	28      4      xxh3 of bytes 8 to 28, lower half: a broken length is not waited for
//
// Frames follow one another without gaps, so that payloads stay aligned.
const headerSize = 32

// maxPayload bounds what a message can take.
const maxPayload = 1 << 30

// everyone is the receiver of a message to all workers of a process.
const everyone = 1<<32 - 1

type frameKind uint32

const (
	frameData    frameKind = iota + 1
	frameOpen              // a worker opened a channel
	framePulse             // a sign of life, and how many bytes of data were taken
	frameGoodbye           // nothing follows
	frameFail              // the mesh has failed, nothing follows
	frameKinds
)

type header struct {
	length  uint32
	kind    frameKind
	channel uint32
	source  uint32
	target  uint32
}

// errCorrupt is the cause when a frame is not what was sent.
var errCorrupt = errors.New("corrupt frame")

// put writes all of the header but the checksums.
func (h header) put(b []byte) {
	_ = b[:headerSize]
	binary.LittleEndian.PutUint32(b[8:], h.length)
	binary.LittleEndian.PutUint32(b[12:], uint32(h.kind))
	binary.LittleEndian.PutUint32(b[16:], h.channel)
	binary.LittleEndian.PutUint32(b[20:], h.source)
	binary.LittleEndian.PutUint32(b[24:], h.target)
}

// seal writes the checksums of the frames that b consists of.
func seal(b []byte) {
	for len(b) > 0 {
		end := headerSize + int(binary.LittleEndian.Uint32(b[8:]))
		binary.LittleEndian.PutUint32(b[28:], uint32(xxh3.Hash(b[8:28])))
		binary.LittleEndian.PutUint64(b, xxh3.Hash(b[8:end]))
		b = b[end:]
	}
}

// parseFrame reads the frame that b begins with. It returns the size of the frame as
// soon as that is known, and its payload, which is part of b, when b has all of it.
func parseFrame(b []byte) (h header, payload []byte, size int, err error) {
	if len(b) < headerSize {
		return h, nil, headerSize, nil
	}
	if got, want := uint32(xxh3.Hash(b[8:28])), binary.LittleEndian.Uint32(b[28:]); got != want {
		return h, nil, 0, fmt.Errorf("%w: checksum of the header is %08x, it should be %08x", errCorrupt, got, want)
	}
	h = header{
		length:  binary.LittleEndian.Uint32(b[8:]),
		kind:    frameKind(binary.LittleEndian.Uint32(b[12:])),
		channel: binary.LittleEndian.Uint32(b[16:]),
		source:  binary.LittleEndian.Uint32(b[20:]),
		target:  binary.LittleEndian.Uint32(b[24:]),
	}
	if h.length > maxPayload || h.length%8 != 0 {
		return h, nil, 0, fmt.Errorf("%w: a payload of %d bytes", errCorrupt, h.length)
	}
	if h.kind == 0 || h.kind >= frameKinds {
		return h, nil, 0, fmt.Errorf("%w: no frame has kind %d", errCorrupt, h.kind)
	}
	size = headerSize + int(h.length)
	if len(b) < size {
		return h, nil, size, nil
	}
	if got, want := xxh3.Hash(b[8:size]), binary.LittleEndian.Uint64(b); got != want {
		return h, nil, 0, fmt.Errorf("%w: checksum is %016x, it should be %016x", errCorrupt, got, want)
	}
	return h, b[headerSize:size:size], size, nil
}

// appendFrame adds a small frame, unsealed, whose payload is a number and texts.
func appendFrame(b []byte, h header, number uint64, texts ...string) []byte {
	start := len(b)
	b = append(b, make([]byte, headerSize)...)
	b = binary.LittleEndian.AppendUint64(b, number)
	for _, text := range texts {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(text)))
		b = append(b, text...)
	}
	for (len(b)-start)%8 != 0 {
		b = append(b, 0)
	}
	h.length = uint32(len(b) - start - headerSize)
	h.put(b[start:])
	return b
}

// parsePayload is the reverse of appendFrame, for its payload.
func parsePayload(b []byte, texts ...*string) (number uint64, err error) {
	short := fmt.Errorf("%w: a payload of %d bytes is too short", errCorrupt, len(b))
	if len(b) < 8 {
		return 0, short
	}
	number, b = binary.LittleEndian.Uint64(b), b[8:]
	for _, text := range texts {
		if len(b) < 4 {
			return 0, short
		}
		n := binary.LittleEndian.Uint32(b)
		b = b[4:]
		if uint64(n) > uint64(len(b)) {
			return 0, short
		}
		*text, b = string(b[:n]), b[n:]
	}
	return number, nil
}
