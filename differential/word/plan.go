package word

import (
	"fmt"
	"reflect"
)

// partKind is how the bits of a part become a part of a word.
type partKind uint8

const (
	unsigned partKind = iota // booleans too
	signed
	floating
	text
)

// part is a number, a boolean or a string within a type.
type part struct {
	off  uintptr
	size uintptr // 1, 2, 4 or 8 in memory, unless text
	kind partKind
}

// badType is why a type has no words; path leads to the part of it that is to blame.
type badType struct {
	path string
	typ  reflect.Type
}

func (e *badType) Error() string {
	return fmt.Sprintf("%s is a %s (%v): words are made of numbers, booleans, strings, and arrays and structs of them", e.path, e.typ.Kind(), e.typ)
}

// maxContent is how many bytes of content a packed type has at most.
const maxContent = 8

// content returns how many bytes the numbers and booleans of t take, or more than
// maxContent if it has strings or they take more.
func content(t reflect.Type) uintptr {
	n := uintptr(0)
	switch t.Kind() {
	case reflect.String:
		return maxContent + 1
	case reflect.Array:
		if elem := content(t.Elem()); elem > 0 {
			n = min(elem, maxContent+1) * uintptr(min(t.Len(), maxContent+1))
		}
	case reflect.Struct:
		for f := range t.Fields() {
			if f.Name != "_" {
				n += content(f.Type)
			}
		}
	default:
		n = t.Size()
	}
	return n
}

// check says whether t is made of what words can stand for.
func check(t reflect.Type, path string) error {
	switch t.Kind() {
	case reflect.String, reflect.Bool,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr,
		reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128:
	case reflect.Array:
		if t.Len() > 0 {
			return check(t.Elem(), path+"[]")
		}
	case reflect.Struct:
		for f := range t.Fields() {
			if f.Name == "_" {
				continue
			}
			if err := check(f.Type, path+"."+f.Name); err != nil {
				return err
			}
		}
	default:
		return &badType{path, t}
	}
	return nil
}

// parts appends the parts of t at an offset, in the order in which they are compared.
// t has passed check.
func parts(all []part, t reflect.Type, off uintptr) []part {
	size := t.Size()
	switch t.Kind() {
	case reflect.String:
		return append(all, part{off, size, text})
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return append(all, part{off, size, signed})
	case reflect.Float32, reflect.Float64:
		return append(all, part{off, size, floating})
	case reflect.Complex64, reflect.Complex128:
		return append(all, part{off, size / 2, floating}, part{off + size/2, size / 2, floating})
	case reflect.Array:
		if content(t.Elem()) == 0 {
			break // however many there are
		}
		for i := range t.Len() {
			all = parts(all, t.Elem(), off+uintptr(i)*t.Elem().Size())
		}
	case reflect.Struct:
		for f := range t.Fields() {
			if f.Name != "_" {
				all = parts(all, f.Type, off+f.Offset)
			}
		}
	default:
		return append(all, part{off, size, unsigned})
	}
	return all
}
