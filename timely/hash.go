package timely

import (
	"fmt"
	"math"
	"reflect"
	"unsafe"

	"github.com/zeebo/xxh3"
)

// HashUint64 spreads the bits of x, so that numbers with a pattern are shared out evenly
// among the workers. It is the finaliser of MurmurHash3.
func HashUint64(x uint64) uint64 {
	x = (x ^ x>>33) * 0xff51afd7ed558ccd
	x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

// HashString is the xxh3 hash of s.
func HashString(s string) uint64 { return xxh3.HashString(s) }

// HashOf makes a hash function for keys of type K, for [Stream.Exchange] and [ByHash].
// Keys that are equal have the same hash, in all processes (unlike with package
// hash/maphash, whose seed is another one in each). K is made of numbers, booleans,
// strings, and arrays and structs of them; HashOf panics with a [MisuseError] where it is not.
func HashOf[K comparable]() func(K) uint64 {
	t := reflect.TypeFor[K]()
	parts, problem := hashParts(nil, t, 0)
	if problem != "" {
		misuse("there is no hash for %v: %s; use a function of your own", t, problem)
	}
	if len(parts) == 1 && parts[0].offset == 0 {
		switch p := parts[0]; {
		case p.kind == hashText:
			return func(k K) uint64 { return xxh3.HashString(*(*string)(unsafe.Pointer(&k))) }
		case p.kind == hashBits && p.size == 8:
			return func(k K) uint64 { return HashUint64(*(*uint64)(unsafe.Pointer(&k))) }
		case p.kind == hashBits && p.size == 4:
			return func(k K) uint64 { return HashUint64(uint64(*(*uint32)(unsafe.Pointer(&k)))) }
		}
	}
	return func(k K) uint64 {
		h := uint64(len(parts))
		for i := range parts {
			h = HashUint64(h*31 + parts[i].hash(unsafe.Add(unsafe.Pointer(&k), parts[i].offset)))
		}
		return h
	}
}

// hashPart is a part of a key that is hashed on its own.
type hashPart struct {
	offset uintptr
	size   uintptr
	kind   uint8
}

const (
	hashBits = iota
	hashFloat
	hashText
)

// hash is that of the part at p.
func (h *hashPart) hash(p unsafe.Pointer) uint64 {
	if h.kind == hashText {
		return xxh3.HashString(*(*string)(p))
	}
	var bits uint64
	switch h.size {
	case 1:
		bits = uint64(*(*uint8)(p))
	case 2:
		bits = uint64(*(*uint16)(p))
	case 4:
		bits = uint64(*(*uint32)(p))
		if h.kind == hashFloat && *(*float32)(p) == 0 {
			bits = 0 // -0 equals 0
		}
	default:
		bits = *(*uint64)(p)
		if h.kind == hashFloat && bits == math.Float64bits(math.Copysign(0, -1)) {
			bits = 0
		}
	}
	return HashUint64(bits)
}

// hashParts appends the parts of a type at an offset. Blank fields and padding take no
// part in equality, and so none here.
func hashParts(parts []hashPart, t reflect.Type, offset uintptr) ([]hashPart, string) {
	problem := ""
	switch t.Kind() {
	case reflect.String:
		parts = append(parts, hashPart{offset, t.Size(), hashText})
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		parts = append(parts, hashPart{offset, t.Size(), hashBits})
	case reflect.Float32, reflect.Float64:
		parts = append(parts, hashPart{offset, t.Size(), hashFloat})
	case reflect.Complex64, reflect.Complex128:
		half := t.Size() / 2
		parts = append(parts, hashPart{offset, half, hashFloat}, hashPart{offset + half, half, hashFloat})
	case reflect.Array:
		for i := 0; i < t.Len() && problem == ""; i++ {
			parts, problem = hashParts(parts, t.Elem(), offset+uintptr(i)*t.Elem().Size())
		}
	case reflect.Struct:
		for f := range t.Fields() {
			if f.Name == "_" {
				continue
			}
			if parts, problem = hashParts(parts, f.Type, offset+f.Offset); problem != "" {
				return nil, fmt.Sprintf("field %s: %s", f.Name, problem)
			}
		}
	default:
		problem = fmt.Sprintf("%v values have none that is the same in all processes", t.Kind())
	}
	return parts, problem
}
