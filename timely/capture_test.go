package timely

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// capture runs records through a loop and an exchange on some number of workers and
// returns what each wrote.
func capture(t require, threads int, records []timed[uint64]) [][]byte {
	files := make([]bytes.Buffer, threads)
	err := Run(Threads(threads), func(w *Worker) error {
		var in *Input[uint64]
		w.Dataflow("capture", func(s *Scope) {
			in = NewInput[uint64](s)
			in.Stream().Exchange(HashUint64).Map(func(x uint64) string { return fmt.Sprint(x) }).
				Capture(NewEventWriter[string](&files[w.Index()]).Write)
		})
		for epoch := range uint64(5) {
			in.AdvanceTo(epoch)
			for i, r := range records {
				if i%threads == w.Index() && r.epoch == epoch {
					in.Send(r.x)
				}
			}
			if _, err := w.Step(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var all [][]byte
	for i := range files {
		all = append(all, files[i].Bytes())
	}
	return all
}

type require interface {
	Helper()
	Fatal(args ...any)
}

// replayAll replays sources, shared out over some number of workers.
func replayAll[D any](threads int, sources []iter.Seq2[Event[D], error]) (*Results[D], error) {
	var got Results[D]
	err := Run(Threads(threads), func(w *Worker) error {
		var mine []iter.Seq2[Event[D], error]
		for i := w.Index(); i < len(sources); i += w.Peers() {
			mine = append(mine, sources[i])
		}
		w.Dataflow("replay", func(s *Scope) { Replay(s, mine...).Collect(&got) })
		return nil
	})
	return &got, err
}

func TestReplayOnOtherWorkers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		records := drawRecords(t)
		files := capture(t, rapid.IntRange(1, 3).Draw(t, "captured on"), records)
		var sources []iter.Seq2[Event[string], error]
		for _, f := range files {
			sources = append(sources, NewEventReader[string](bytes.NewReader(f)).All())
		}
		got, err := replayAll(rapid.IntRange(1, 3).Draw(t, "replayed on"), sources)
		if err != nil {
			t.Fatal(err)
		}
		var list, want []timed[string]
		for at, x := range got.All() {
			list = append(list, timed[string]{at[0], x})
		}
		for _, r := range records {
			want = append(want, timed[string]{r.epoch, fmt.Sprint(r.x)})
		}
		same(t, list, want)
	})
}

// TestReplayLive captures to a channel that another run replays meanwhile.
func TestReplayLive(t *testing.T) {
	events := make(chan Event[int])
	captured := make(chan error)
	go func() {
		captured <- Run(Threads(1), func(w *Worker) error {
			var in *Input[int]
			var probe Probe
			w.Dataflow("capture", func(s *Scope) {
				in = NewInput[int](s)
				in.Stream().Probe(&probe).Capture(func(e Event[int]) error { events <- e.Clone(); return nil })
			})
			for epoch := range uint64(50) {
				in.Send(int(epoch), int(epoch))
				in.AdvanceTo(epoch + 1)
				if err := w.StepUntil(probe.Passed(Epoch(epoch))); err != nil {
					return err
				}
			}
			in.Close()
			err := w.StepUntil(probe.Done)
			for range 3 {
				w.Step()
			}
			close(events)
			return err
		})
	}()
	seq := func(yield func(Event[int]) bool) {
		for e := range events {
			if !yield(e) {
				return
			}
		}
	}
	got, err := replayAll(2, []iter.Seq2[Event[int], error]{Events(seq)})
	if err := errors.Join(err, <-captured); err != nil {
		t.Fatal(err)
	}
	for epoch := range 50 {
		if at := got.At(Epoch(uint64(epoch))); !slices.Equal(at, []int{epoch, epoch}) {
			t.Errorf("epoch %d: %v", epoch, at)
		}
	}
}

func TestReplayRefuses(t *testing.T) {
	for _, c := range []struct {
		want   string
		events []Event[int]
	}{
		{"source 0: there are records at (1) while the frontier is [(2)]", []Event[int]{{Frontier: Antichain{{2}}}, {Time: Time{1}, Data: []int{1}}}},
		{"the frontier goes back from [(2)] to (1)", []Event[int]{{Frontier: Antichain{{2}}}, {Frontier: Antichain{{1}}}}},
		{"the events end while records from [(2)] on may still come", []Event[int]{{Frontier: Antichain{{2}}}}},
	} {
		_, err := replayAll(2, []iter.Seq2[Event[int], error]{Events(slices.Values(c.events))})
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), `operator "replay"`) {
			t.Errorf("got %v, expected %q", err, c.want)
		}
	}
}

func TestCaptureErrors(t *testing.T) {
	disk := errors.New("disk full")
	run := func(build func(s Stream[func()])) error {
		return Run(Threads(1), func(w *Worker) error {
			w.Dataflow("capture", func(s *Scope) { build(ToStream(s, slices.Values([]func(){func() {}}))) })
			return nil
		})
	}
	if err := run(func(s Stream[func()]) { s.Capture(func(Event[func()]) error { return disk }) }); !errors.Is(err, disk) {
		t.Errorf("got %v, expected %v", err, disk)
	}
	if err := run(func(s Stream[func()]) { s.Capture(NewEventWriter[func()](io.Discard).Write) }); err == nil || !strings.Contains(err.Error(), "func") {
		t.Errorf("got %v, expected that functions cannot be written", err)
	}
	w := NewEventWriter[int](failingWriter{disk})
	for range 2 {
		if err := w.Write(Event[int]{}); !errors.Is(err, disk) {
			t.Errorf("got %v, expected %v", err, disk)
		}
	}
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

// readAll reads events until the end or an error.
func readAll[D any](b []byte) (events []Event[D], err error) {
	r := NewEventReader[D](bytes.NewReader(b))
	for {
		e, err := r.Read()
		if err != nil {
			return events, err
		}
		events = append(events, e)
	}
}

// TestTornEvents flips each bit and cuts at each byte of a file.
func TestTornEvents(t *testing.T) {
	file := capture(t, 1, []timed[uint64]{{0, 7}, {2, 8}, {2, 9}})[0]
	whole, err := readAll[string](file)
	if err != io.EOF || len(whole) < 4 {
		t.Fatalf("%d events and %v", len(whole), err)
	}
	for i := range file {
		if _, err := readAll[string](file[:i]); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("cut at byte %d: %v", i, err)
		}
		for bit := range 8 {
			torn := slices.Clone(file)
			torn[i] ^= 1 << bit
			if _, err := readAll[string](torn); err == io.EOF {
				t.Fatalf("bit %d of byte %d was flipped, and nobody noticed", bit, i)
			}
		}
	}
	if _, err := readAll[string](append(slices.Clone(file), 0)); !errors.Is(err, ErrEvents) {
		t.Errorf("a byte behind the end: %v", err)
	}
	if _, err := readAll[int](file); !errors.Is(err, ErrEvents) {
		t.Errorf("strings are read as numbers: %v", err)
	}
	// Two whole events the other way round.
	second := eventFileHeader + eventHeader + int(file[eventFileHeader+16])
	third := second + eventHeader + int(file[second+16])
	swapped := slices.Concat(file[:eventFileHeader], file[second:third], file[eventFileHeader:second], file[third:])
	if _, err := readAll[string](swapped); err == nil || !strings.Contains(err.Error(), "event 1 comes where 0 was expected") {
		t.Errorf("events that are swapped: %v", err)
	}
}

func FuzzReplay(f *testing.F) {
	for _, file := range capture(f, 2, []timed[uint64]{{0, 7}, {2, 8}, {2, 9}, {3, 1}}) {
		f.Add(file, false)
		f.Add(file, true)
		f.Add(file[:len(file)/2], false)
	}
	f.Fuzz(func(t *testing.T, file []byte, mend bool) {
		if mend { // right the checksums, to get past them
			file = mendSums(slices.Clone(file))
		}
		got, err := replayAll(1, []iter.Seq2[Event[string], error]{NewEventReader[string](bytes.NewReader(file)).All()})
		if err != nil && strings.Contains(err.Error(), "panic") {
			t.Fatal(err)
		}
		if err == nil && got.Len() > len(file) {
			t.Fatalf("%d records from %d bytes", got.Len(), len(file))
		}
	})
}

// mendSums makes the checksums of a file right, as far as there are whole events.
func mendSums(file []byte) []byte {
	at := eventFileHeader
	for at+eventHeader <= len(file) {
		header := file[at : at+eventHeader]
		n := int(header[16]) | int(header[17])<<8
		clear(header[18:24])
		if at += eventHeader; at+n > len(file) {
			break
		}
		binary.LittleEndian.PutUint64(header[24:], eventSum(header, file[at:at+n]))
		at += n
	}
	return file
}
