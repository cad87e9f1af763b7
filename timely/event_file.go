package timely

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/zeebo/xxh3"

	"weir/flat"
)

// The format of captured events is described in docs/formats-timely.md.
const (
	eventMagic      = "\x89wtev\r\n\x1a"
	eventVersion    = 1
	eventFileHeader = 24
	eventHeader     = 32
	eventFrontier   = 1
	eventRecords    = 2
	// eventBuffer is how many bytes an EventWriter gathers.
	eventBuffer = 1 << 16
	// eventTrusted is how many bytes an EventReader makes room for because a length says so.
	eventTrusted = 1 << 20
)

// ErrEvents says that bytes are not events as an [EventWriter] writes them.
var ErrEvents = errors.New("these are not captured events")

// EventWriter writes the events of a stream on one worker as bytes, in the format of
// docs/formats-timely.md, with checksums.
type EventWriter[D any] struct {
	to    io.Writer
	codec flat.Codec[D]
	buf   []byte
	next  uint64 // number of the next event
	err   error
}

// NewEventWriter makes an EventWriter. Records must be of a type that package flat
// can encode; if they are not, the first Write says so.
func NewEventWriter[D any](w io.Writer) *EventWriter[D] {
	e := &EventWriter[D]{to: w}
	e.codec, e.err = flat.For[D]()
	e.buf = append(e.buf, eventMagic...)
	e.buf = binary.LittleEndian.AppendUint32(e.buf, eventVersion)
	e.buf = binary.LittleEndian.AppendUint32(e.buf, 0)
	e.buf = binary.LittleEndian.AppendUint64(e.buf, xxh3.Hash(e.buf))
	return e
}

// Write writes an event. Records may wait in memory until the frontier moves. After an error it
// returns the same error again.
func (w *EventWriter[D]) Write(e Event[D]) error {
	if w.err != nil {
		return w.err
	}
	start := len(w.buf)
	w.buf = append(w.buf, make([]byte, eventHeader)...)
	kind := uint32(eventFrontier)
	if len(e.Data) > 0 {
		kind = eventRecords
		w.buf = flat.Append(w.buf, []Time{e.Time})
		w.buf = w.codec.Append(w.buf, e.Data)
	} else {
		w.buf = flat.Append(w.buf, []Time(e.Frontier))
	}
	header, body := w.buf[start:start+eventHeader], w.buf[start+eventHeader:]
	binary.LittleEndian.PutUint32(header, kind)
	binary.LittleEndian.PutUint64(header[8:], w.next)
	binary.LittleEndian.PutUint64(header[16:], uint64(len(body)))
	binary.LittleEndian.PutUint64(header[24:], eventSum(header, body))
	w.next++
	if kind == eventRecords && len(w.buf) < eventBuffer {
		return nil
	}
	if _, err := w.to.Write(w.buf); err != nil {
		w.err = fmt.Errorf("write event %d: %w", w.next-1, err)
	}
	w.buf = w.buf[:0]
	return w.err
}

// eventSum is the checksum of an event, of all but itself.
func eventSum(header, body []byte) uint64 { return xxh3.HashSeed(body, xxh3.Hash(header[:24])) }

// EventReader reads events that an [EventWriter] wrote.
type EventReader[D any] struct {
	from     io.Reader
	frontier Antichain
	started  bool
	next     uint64
	err      error
}

// NewEventReader makes an EventReader.
func NewEventReader[D any](r io.Reader) *EventReader[D] {
	return &EventReader[D]{from: r, frontier: Antichain{{}}}
}

// All is the events up to the end, or the first error.
func (r *EventReader[D]) All() iter.Seq2[Event[D], error] {
	return func(yield func(Event[D], error) bool) {
		for {
			e, err := r.Read()
			if err == io.EOF {
				return
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// Read is the next event, which is the caller's. It returns [io.EOF] after the
// event that ends the stream, [io.ErrUnexpectedEOF] where the bytes end before it, and an
// [ErrEvents] where they are none that an EventWriter of the same type wrote.
func (r *EventReader[D]) Read() (Event[D], error) {
	if r.err != nil {
		return Event[D]{}, r.err
	}
	e, err := r.read()
	if err != nil && err != io.EOF {
		err = fmt.Errorf("read event %d: %w", r.next, err)
	}
	r.err = err
	r.next++
	return e, err
}

func (r *EventReader[D]) read() (Event[D], error) {
	if !r.started {
		r.started = true
		if err := r.open(); err != nil {
			return Event[D]{}, err
		}
	}
	if len(r.frontier) == 0 {
		if n, _ := io.ReadFull(r.from, make([]byte, 1)); n > 0 {
			return Event[D]{}, fmt.Errorf("%w: there is more behind the end", ErrEvents)
		}
		return Event[D]{}, io.EOF
	}
	header := make([]byte, eventHeader)
	if _, err := io.ReadFull(r.from, header); err != nil {
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return Event[D]{}, fmt.Errorf("records from %v on are missing: %w", r.frontier, io.ErrUnexpectedEOF)
		}
		return Event[D]{}, err
	}
	body, err := r.body(binary.LittleEndian.Uint64(header[16:]))
	if err != nil {
		return Event[D]{}, err
	}
	if got, want := eventSum(header, body), binary.LittleEndian.Uint64(header[24:]); got != want {
		return Event[D]{}, fmt.Errorf("%w: checksum %016x, expected %016x", ErrEvents, got, want)
	}
	if n := binary.LittleEndian.Uint64(header[8:]); n != r.next {
		return Event[D]{}, fmt.Errorf("%w: event %d comes where %d was expected", ErrEvents, n, r.next)
	}
	return r.decode(binary.LittleEndian.Uint32(header), body)
}

// open reads the header of the file.
func (r *EventReader[D]) open() error {
	header := make([]byte, eventFileHeader)
	n, err := io.ReadFull(r.from, header)
	switch {
	case !bytes.HasPrefix([]byte(eventMagic), header[:min(n, len(eventMagic))]):
		return fmt.Errorf("%w: they begin with % x, not with % x", ErrEvents, header[:min(n, len(eventMagic))], eventMagic)
	case err == io.EOF:
		return io.ErrUnexpectedEOF
	case err != nil:
		return err
	}
	if v := binary.LittleEndian.Uint32(header[8:]); v != eventVersion {
		return fmt.Errorf("%w: version %d of the format, this program reads %d", ErrEvents, v, eventVersion)
	}
	if got, want := xxh3.Hash(header[:16]), binary.LittleEndian.Uint64(header[16:]); got != want {
		return fmt.Errorf("%w: checksum %016x of the header, expected %016x", ErrEvents, got, want)
	}
	return nil
}

// body reads n bytes. It makes little more room than there are bytes, since n may be
// anything.
func (r *EventReader[D]) body(n uint64) ([]byte, error) {
	if n > 1<<62 {
		return nil, fmt.Errorf("%w: an event of %d bytes", ErrEvents, n)
	}
	body := make([]byte, 0, min(n, eventTrusted))
	for uint64(len(body)) < n {
		have := len(body)
		body = slices.Grow(body, int(min(n-uint64(have), max(uint64(have), eventTrusted))))
		body = body[:min(uint64(cap(body)), n)]
		if _, err := io.ReadFull(r.from, body[have:]); err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
	}
	return body, nil
}

// decode makes an event of a body whose checksum was right.
func (r *EventReader[D]) decode(kind uint32, body []byte) (Event[D], error) {
	times, used, err := flat.Decode[Time](body)
	if err != nil {
		return Event[D]{}, fmt.Errorf("%w: times: %w", ErrEvents, err)
	}
	var e Event[D]
	switch kind {
	case eventFrontier:
		e.Frontier, r.frontier = times, times
	case eventRecords:
		if len(times) != 1 {
			return e, fmt.Errorf("%w: records have %d times", ErrEvents, len(times))
		}
		e.Time = times[0]
		data, n, err := flat.Decode[D](body[used:])
		if err != nil {
			return e, fmt.Errorf("%w: records: %w", ErrEvents, err)
		}
		if len(data) == 0 {
			return e, fmt.Errorf("%w: a batch without records", ErrEvents)
		}
		e.Data, used = data, used+n
	default:
		return e, fmt.Errorf("%w: an event of kind %d", ErrEvents, kind)
	}
	if used != len(body) {
		return e, fmt.Errorf("%w: %d bytes behind the %d of an event", ErrEvents, len(body)-used, used)
	}
	return e, nil
}
