package flat_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"unique"
	"unsafe"

	"pgregory.net/rapid"
	"weir/flat"
)

func TestRoundTrip(t *testing.T) {
	for _, s := range subjects {
		t.Run(s.name(), func(t *testing.T) { rapid.Check(t, s.roundTrip) })
	}
}

func TestFramesFollowEachOther(t *testing.T) {
	b := flat.Append(aligned(0, 0), []string{"a", "bc"})
	b = flat.Append(b, []uint64{1, 2, 3})
	b = flat.Append(b, []edge{{1, 2}})
	ss, n, err := flat.Decode[string](b)
	if err != nil || len(ss) != 2 || ss[1] != "bc" {
		t.Fatal(ss, err)
	}
	b = b[n:]
	us, n, err := flat.Decode[uint64](b)
	if err != nil || len(us) != 3 || us[2] != 3 {
		t.Fatal(us, err)
	}
	es, m, err := flat.Decode[edge](b[n:])
	if err != nil || len(es) != 1 || es[0] != (edge{1, 2}) || n+m != len(b) {
		t.Fatal(es, err)
	}
}

// The bytes of a frame, so that the layout does not change unnoticed.
func TestLayout(t *testing.T) {
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 || unsafe.Sizeof(0) != 8 {
		t.Skip("written for little-endian machines of 64 bits")
	}
	type item struct {
		A uint8
		S string
		V []uint32
		P *uint16
	}
	x := uint16(0xabcd)
	got := flat.Append(nil, []item{{A: 7, S: "hey", V: []uint32{5, 6}, P: &x}, {V: []uint32{}}})
	word := func(b []byte, v uint64) []byte { return binary.LittleEndian.AppendUint64(b, v) }
	want := append([]byte("wfl\x01"), got[4:8]...)
	want = word(want, 2)
	want = word(want, 24+2*32+16)
	for _, v := range []uint64{7, 3, 2, 1, 0, 0, 0, 0} {
		want = word(want, v)
	}
	want = append(want, "hey\x00\x05\x00\x00\x00\x06\x00\x00\x00\xcd\xab\x00\x00"...)
	if string(got) != string(want) {
		t.Errorf("got\n% x\nwant\n% x", got, want)
	}
}

func TestAliasing(t *testing.T) {
	within := func(p unsafe.Pointer, b []byte) bool {
		return uintptr(p) >= uintptr(unsafe.Pointer(&b[0])) && uintptr(p) < uintptr(unsafe.Pointer(&b[0]))+uintptr(len(b))
	}
	frame := flat.Append(nil, []uint64{1, 2, 3})
	src := place(frame, 0)
	us, _, err := flat.Decode[uint64](src)
	if err != nil {
		t.Fatal(err)
	}
	if !within(unsafe.Pointer(&us[0]), src) {
		t.Error("aligned numbers were copied")
	}
	us[1] = 0x0101010101010101
	if src[24+8] != 1 {
		t.Error("a change to the result is not one of the input")
	}
	if us = append(us, 4); within(unsafe.Pointer(&us[0]), src) {
		t.Error("append wrote to the input")
	}
	src = place(frame, 1)
	if us, _, err = flat.Decode[uint64](src); err != nil || us[0] != 1 || us[2] != 3 {
		t.Fatal(us, err)
	}
	if within(unsafe.Pointer(&us[0]), src) {
		t.Error("misaligned numbers were not copied")
	}

	p := &padded{B: 9}
	src = place(flat.Append(nil, []mixed{{S: "hello", N: [][]uint16{{1, 2}}, P: p}}), 0)
	ms, _, err := flat.Decode[mixed](src)
	if err != nil {
		t.Fatal(err)
	}
	m := ms[0]
	for what, q := range map[string]unsafe.Pointer{
		"string": unsafe.Pointer(unsafe.StringData(m.S)), "slice": unsafe.Pointer(&m.N[0][0]), "pointer": unsafe.Pointer(m.P),
	} {
		if !within(q, src) {
			t.Errorf("the %s was copied", what)
		}
	}
}

// Slices of one arena must not grow into each other.
func TestNeighboursStayApart(t *testing.T) {
	xs, _, err := flat.Decode[[]string](flat.Append(nil, [][]string{{"a"}, {"b"}}))
	if err != nil {
		t.Fatal(err)
	}
	_ = append(xs[0], "c")
	if xs[1][0] != "b" {
		t.Error("appending to a slice changed the next")
	}
}

// What lies in padding and blank fields must not leave the process.
func TestPaddingIsZero(t *testing.T) {
	dirty := make([]padded, 3)
	raw := unsafe.Slice((*byte)(unsafe.Pointer(&dirty[0])), 3*unsafe.Sizeof(dirty[0]))
	clean := make([]padded, 3)
	for i := range raw {
		raw[i] = 0xee
	}
	for i := range dirty {
		d := &dirty[i]
		d.A, d.B, d.C, d.D = 1, 2, true, 3
		d.E[0].F, d.E[0].G, d.E[1].F, d.E[1].G = 4, true, 5, false
		c := &clean[i]
		c.A, c.B, c.C, c.D, c.E = d.A, d.B, d.C, d.D, d.E
		c.E[0].F, c.E[0].G, c.E[1].F, c.E[1].G = 4, true, 5, false
	}
	for i := range clean {
		// The assignment of E may have copied its padding.
		for k := range clean[i].E {
			e := &clean[i].E[k]
			f, g := e.F, e.G
			clear(unsafe.Slice((*byte)(unsafe.Pointer(e)), unsafe.Sizeof(*e)))
			e.F, e.G = f, g
		}
	}
	if a, b := flat.Append(nil, dirty), flat.Append(nil, clean); string(a) != string(b) {
		t.Errorf("padding leaks:\n% x\n% x", a, b)
	}
	// The same inside a type with strings, at the end of its runs and between them.
	type item struct {
		A byte
		S string
		P [2]padded
		B bool
	}
	var it item
	clear(unsafe.Slice((*byte)(unsafe.Pointer(&it)), unsafe.Sizeof(it)))
	want := flat.Append(nil, []item{{}, {}})
	items := make([]item, 2)
	for i := range items {
		it := &items[i]
		for k := range it.P {
			p := unsafe.Slice((*byte)(unsafe.Pointer(&it.P[k])), unsafe.Sizeof(it.P[k]))
			for j := range p {
				p[j] = 0xee
			}
			it.P[k].A, it.P[k].B, it.P[k].C, it.P[k].D = 0, 0, false, 0
			for e := range it.P[k].E {
				it.P[k].E[e].F, it.P[k].E[e].G = 0, false
			}
		}
		*(*byte)(unsafe.Add(unsafe.Pointer(&it.A), 3)) = 0xee
		*(*byte)(unsafe.Add(unsafe.Pointer(&it.B), 5)) = 0xee
	}
	if got := flat.Append(nil, items); string(got) != string(want) {
		t.Errorf("padding leaks:\n% x\n% x", got, want)
	}
	// Nor does what dst held before, where bytes are skipped.
	dst := make([]byte, 1000)
	for i := range dst {
		dst[i] = 0xee
	}
	xs := [][]uint64{{1}}
	ys := []tree2{{Name: "x"}}
	zs := []mixed{{S: "x", N: [][]uint16{{1}}, P: &padded{}}}
	if string(flat.Append(dst[:0], xs)) != string(flat.Append(nil, xs)) ||
		string(flat.Append(dst[:0], ys)) != string(flat.Append(nil, ys)) ||
		string(flat.Append(dst[:0], zs)) != string(flat.Append(nil, zs)) {
		t.Error("a frame holds bytes of the buffer's past")
	}
}

func TestCheck(t *testing.T) {
	type inner struct {
		Tags map[string]int
	}
	type order struct {
		ID    uint64
		Items []struct{ In [2]*inner }
	}
	type list struct {
		Next *list
	}
	type span struct {
		From, To time.Time
	}
	for _, c := range []struct {
		err  error
		want []string
	}{
		{flat.Check[order](), []string{"order.Items[].In[].Tags is map[string]int", "slice of its pairs"}},
		{flat.Check[list](), []string{"list.Next is flat_test.list", "contains itself"}},
		{flat.Check[[]func()](), []string{"[]func()[] is func()", "outside its process"}},
		{flat.Check[chan int](), []string{"chan int"}},
		{flat.Check[error](), []string{"error", "interface"}},
		{flat.Check[struct{ P unsafe.Pointer }](), []string{".P is unsafe.Pointer"}},
		{flat.Check[span](), []string{"span.From.loc is time.Location", "nanoseconds"}},
		{flat.Check[struct{ H unique.Handle[string] }](), []string{".H is unique.Handle[string]"}},
		{flat.Check[strings.Builder](), []string{"Builder.addr", "contains itself"}},
	} {
		if c.err == nil {
			t.Errorf("no error like %q", c.want)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(c.err.Error(), want) {
				t.Errorf("error %q says nothing of %q", c.err, want)
			}
		}
	}
	for _, err := range []error{flat.Check[mixed](), flat.Check[[0]map[string]int](), flat.Check[time.Duration](), flat.Check[struct{ A, B []*[]string }]()} {
		if err != nil {
			t.Error(err)
		}
	}
	if _, err := flat.For[order](); err == nil || err.Error() != flat.Check[order]().Error() {
		t.Errorf("For: %v", err)
	}
	if _, _, err := flat.Decode[order](nil); err == nil || errors.Is(err, flat.ErrShort) {
		t.Errorf("Decode: %v", err)
	}
	if got, n, err := flat.DecodeAppend(make([]order, 1), nil); err == nil || len(got) != 1 || n != 0 {
		t.Errorf("DecodeAppend: %d elements, %d bytes, %v", len(got), n, err)
	}
	defer func() {
		if err, ok := recover().(error); !ok || !strings.Contains(err.Error(), "Tags") {
			t.Errorf("Append: %v", err)
		}
	}()
	flat.Append(nil, []order{})
}

func TestOtherTypeIsRefused(t *testing.T) {
	type swapped struct{ Dst, Src uint32 }
	type wider struct{ Src, Dst uint64 }
	type signed struct{ Src, Dst int32 }
	type same edge
	b := flat.Append(nil, []edge{{1, 2}, {3, 4}})
	if xs, _, err := flat.Decode[same](b); err != nil || xs[1] != (same{3, 4}) {
		t.Error(xs, err)
	}
	refused := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, flat.ErrType) {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, _, err := flat.Decode[swapped](b)
	refused("swapped", err)
	_, _, err = flat.Decode[wider](b)
	refused("wider", err)
	_, _, err = flat.Decode[signed](b)
	refused("signed", err)
	_, _, err = flat.Decode[uint64](b)
	refused("uint64", err)
	_, _, err = flat.Decode[[]edge](b)
	refused("slice", err)
	_, _, err = flat.Decode[string](flat.Append(nil, [][]byte{nil}))
	refused("bytes as string", err)
	_, _, err = flat.Decode[[2]uint32](b)
	refused("array", err)
}

func TestAllocs(t *testing.T) {
	us := make([]uint64, 1000)
	ss := make([]string, 1000)
	rs := make([][]record, 100)
	for i := range ss {
		ss[i] = fmt.Sprintf("%010d", i)
	}
	for i := range rs {
		rs[i] = []record{{1, "x"}, {2, "yz"}}
	}
	dst := make([]byte, 0, 1<<16)
	ub, sb, rb := place(flat.Append(nil, us), 0), place(flat.Append(nil, ss), 0), place(flat.Append(nil, rs), 0)
	for _, c := range []struct {
		name string
		want float64
		f    func()
	}{
		{"append numbers", 0, func() { flat.Append(dst, us) }},
		{"append strings", 0, func() { flat.Append(dst, ss) }},
		{"append records", 0, func() { flat.Append(dst, rs) }},
		{"decode numbers", 0, func() { decodeOK[uint64](t, ub) }},
		{"decode strings", 1, func() { decodeOK[string](t, sb) }},
		{"append decoded numbers", 0, func() { flat.DecodeAppend(us[:0], ub) }},
		{"append decoded strings", 0, func() { flat.DecodeAppend(ss[:0], sb) }},
		{"append decoded records", 1, func() { flat.DecodeAppend(rs[:0], rb) }},
		{"decode records", 2, func() { decodeOK[[]record](t, rb) }}, // the slices, the records
	} {
		if got := testing.AllocsPerRun(100, c.f); got > c.want && !raceEnabled {
			t.Errorf("%s: %v allocations, want %v", c.name, got, c.want)
		}
	}
}

func decodeOK[T any](t *testing.T, b []byte) []T {
	xs, _, err := flat.Decode[T](b)
	if err != nil {
		t.Error(err)
	}
	return xs
}

// Decoded values keep alive all that they point to.
func TestGarbageCollection(t *testing.T) {
	type item struct {
		S string
		R []record
		U []uint64
		P *uint64
		Q **record
	}
	make1 := func(i int) item {
		v, r := uint64(i), &record{uint64(i), fmt.Sprint("q", i)}
		return item{fmt.Sprint("s", i), []record{{uint64(i), fmt.Sprint("r", i)}}, []uint64{v, v + 1}, &v, &r}
	}
	const n = 500
	var kept [][]item
	for range 20 {
		items := make([]item, n)
		for i := range items {
			items[i] = make1(i)
		}
		kept = append(kept, decodeOK[item](t, flat.Append(nil, items)))
		runtime.GC()
	}
	trash := make([][]byte, 0, 1000)
	for i := range 1000 {
		b := make([]byte, 1<<(i%16))
		for k := range b {
			b[k] = 0xff
		}
		trash = append(trash, b)
	}
	runtime.GC()
	for _, items := range kept {
		for i, got := range items {
			if want := make1(i); !reflect.DeepEqual(got, want) {
				t.Fatalf("item %d is %+v, want %+v", i, got, want)
			}
		}
	}
	runtime.KeepAlive(trash)
}

func (o of[T]) hammer(t *testing.T) {
	xs := rapid.SliceOfN(o.gen, 1, 5).Example(1)
	want := string(flat.Append(nil, xs))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 50 {
				b := flat.Append(nil, xs)
				ys, _, err := flat.Decode[T](b)
				if err != nil || string(b) != want || !equal(reflect.ValueOf(xs), reflect.ValueOf(ys)) {
					t.Errorf("%v: got %+v, want %+v", err, ys, xs)
				}
			}
		})
	}
	wg.Wait()
}

func TestConcurrentUse(t *testing.T) {
	for _, s := range subjects {
		t.Run(s.name(), s.hammer)
	}
}

func ExampleDecode() {
	type Edge struct{ Src, Dst uint32 }
	b := flat.Append(nil, []Edge{{1, 2}, {2, 3}})
	edges, n, err := flat.Decode[Edge](b)
	fmt.Println(edges, n == len(b), err)
	// Output: [{1 2} {2 3}] true <nil>
}

func ExampleCheck() {
	type Order struct {
		ID   uint64
		Tags map[string]string
	}
	fmt.Println(flat.Check[Order]())
	// Output: flat: cannot encode flat_test.Order: flat_test.Order.Tags is map[string]string: a map has no bytes of its own; keep a slice of its pairs
}
