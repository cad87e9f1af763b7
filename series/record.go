package series

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"weir/series/names"
	"weir/series/tree"
)

// A frame of the log is entries of one shard, each a point or a deletion. Most of what an entry says follows from the
// one before it: a row of series that are written side by side takes nine bytes a point, eight of which are its value.
// docs/formats-series.md has the format.

// entry is a point, or a deletion.
type entry struct {
	id       names.ID
	time     int64
	value    float64
	text     []byte // of an event, and not nil then
	place    tree.Place
	deletion *tree.Deletion
}

const (
	idNext    = 0 // the one before and the distance between the series of a shard
	idSame    = 1
	idDelta   = 2
	timeSame  = 0 << 2
	timeStep  = 1 << 2 // as far from the one before as that was from the one before it
	timeDelta = 2 << 2
	isLate    = 1 << 4
	isPlaced  = 1 << 5 // an ordinal that does not follow from the one before
	isEvent   = 1 << 6
	isDeleted = 2 << 6

	frameVersion = 1
)

var errRecord = errors.New("not a frame of the log of series")

// prediction is what follows from the entries before.
type prediction struct {
	id       names.ID
	stride   names.ID
	time     int64
	step     int64
	ordinals [2]uint64 // of the last point that came in order, and late
}

func (p *prediction) ordinal(same bool, late int) uint64 {
	if same {
		return p.ordinals[late] + 1
	}
	return p.ordinals[late]
}

// encoder makes a frame.
type encoder struct {
	prediction
	buf   []byte
	empty bool
}

// reset begins a frame of a shard whose series are stride apart.
func (e *encoder) reset(stride names.ID) {
	e.prediction = prediction{stride: stride}
	e.buf = append(e.buf[:0], frameVersion)
	e.buf = binary.AppendUvarint(e.buf, uint64(stride))
	e.empty = true
}

// head appends what all entries begin with, and returns where its flags are.
func (e *encoder) head(id names.ID, flags byte) int {
	e.empty = false
	at := len(e.buf)
	e.buf = append(e.buf, 0)
	switch id {
	case e.id + e.stride:
		flags |= idNext
	case e.id:
		flags |= idSame
	default:
		flags |= idDelta
		e.buf = binary.AppendVarint(e.buf, int64(id)-int64(e.id))
	}
	e.id = id
	e.buf[at] = flags
	return at
}

// point appends a point; text is not nil if it is an event.
func (e *encoder) point(id names.ID, time int64, value float64, text []byte, place tree.Place) {
	same := id == e.id
	at := e.head(id, 0)
	flags := e.buf[at]
	switch delta := time - e.time; delta {
	case 0:
		flags |= timeSame
	case e.step:
		flags |= timeStep
		e.time = time
	default:
		flags |= timeDelta
		e.buf = binary.AppendVarint(e.buf, delta)
		e.time, e.step = time, delta
	}
	late := 0
	if place.Late {
		late = 1
		flags |= isLate
	}
	if want := e.ordinal(same, late); want != place.Ordinal {
		flags |= isPlaced
		e.buf = binary.AppendVarint(e.buf, int64(place.Ordinal-want))
	}
	e.ordinals[late] = place.Ordinal
	if text != nil {
		flags |= isEvent
		e.buf = binary.AppendUvarint(e.buf, uint64(len(text)))
		e.buf = append(e.buf, text...)
	} else {
		e.buf = binary.LittleEndian.AppendUint64(e.buf, math.Float64bits(value))
	}
	e.buf[at] = flags
}

// deletion appends a deletion.
func (e *encoder) deletion(id names.ID, d tree.Deletion) {
	e.head(id, isDeleted)
	e.buf = binary.AppendVarint(e.buf, d.From)
	e.buf = binary.AppendVarint(e.buf, d.To)
	e.buf = binary.AppendUvarint(e.buf, d.Ordinal)
	e.buf = binary.AppendUvarint(e.buf, d.Late)
}

// decodeFrame calls fn with the entries of a frame. What is in an entry is good until fn returns.
func decodeFrame(frame []byte, fn func(entry) error) error {
	d := decoder{rest: frame}
	if v := d.byte(); v != frameVersion {
		return fmt.Errorf("%w: version %d, want %d", errRecord, v, frameVersion)
	}
	d.stride = names.ID(d.uvarint())
	for len(d.rest) > 0 && d.err == nil {
		e := d.entry()
		if d.err != nil {
			break
		}
		if err := fn(e); err != nil {
			return err
		}
	}
	return d.err
}

type decoder struct {
	prediction
	rest []byte
	err  error
}

func (d *decoder) entry() (e entry) {
	flags := d.byte()
	before := d.id
	switch flags & 3 {
	case idNext:
		d.id += d.stride
	case idSame:
	case idDelta:
		d.id = names.ID(int64(d.id) + d.varint())
	default:
		d.fail("an unknown way to name a series")
	}
	e.id = d.id
	if flags>>6 == isDeleted>>6 {
		if flags&^(3|isDeleted) != 0 {
			d.fail("a deletion with bits of a point")
		}
		e.deletion = &tree.Deletion{From: d.varint(), To: d.varint(), Ordinal: d.uvarint(), Late: d.uvarint()}
		return e
	}
	switch flags & (3 << 2) {
	case timeSame:
	case timeStep:
		d.time += d.step
	case timeDelta:
		d.step = d.varint()
		d.time += d.step
	default:
		d.fail("an unknown way to tell a time")
	}
	e.time = d.time
	late := int(flags & isLate >> 4)
	e.place = tree.Place{Ordinal: d.ordinal(d.id == before, late), Late: late == 1}
	if flags&isPlaced != 0 {
		e.place.Ordinal += uint64(d.varint())
	}
	d.ordinals[late] = e.place.Ordinal
	switch flags >> 6 {
	case 0:
		if b := d.bytes(8); d.err == nil {
			e.value = math.Float64frombits(binary.LittleEndian.Uint64(b))
		}
	case isEvent >> 6:
		n := d.uvarint()
		if n > tree.MaxText {
			d.fail("a text that is too long")
			n = 0
		}
		e.text = d.bytes(int(n))
	default:
		d.fail("an entry of an unknown kind")
	}
	return e
}

func (d *decoder) fail(what string) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: %s, %d bytes before its end", errRecord, what, len(d.rest))
	}
	d.rest = nil
}

func (d *decoder) byte() byte {
	if b := d.bytes(1); d.err == nil {
		return b[0]
	}
	return 0
}

func (d *decoder) bytes(n int) []byte {
	if len(d.rest) < n {
		d.fail("an entry that is cut short")
		return nil
	}
	b := d.rest[:n:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) uvarint() uint64 {
	x, n := binary.Uvarint(d.rest)
	if n <= 0 {
		d.fail("a number that is cut short or too long")
		return 0
	}
	d.rest = d.rest[n:]
	return x
}

func (d *decoder) varint() int64 {
	x, n := binary.Varint(d.rest)
	if n <= 0 {
		d.fail("a number that is cut short or too long")
		return 0
	}
	d.rest = d.rest[n:]
	return x
}
