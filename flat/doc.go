// Package flat turns slices of values into bytes and back at the speed of
// memory, for batches that travel between processes that run the same program.
//
//	b := flat.Append(nil, []Edge{{1, 2}, {2, 3}})
//	edges, n, err := flat.Decode[Edge](b) // n == len(b); edges lie in b
//
// A type's plan is compiled by reflection when the type is first seen, and
// kept. A slice of a type without pointers is one copy to write and none to
// read: the result lies in the input, where the alignment allows. Strings,
// nested slices and pointers are followed; the strings and pointer-free slices
// of a result lie in the input too, so that [Decode] allocates once for the
// batch and once for each type with pointers within it, however many elements
// there are. [DecodeAppend] fills memory that the caller has.
//
// # Which types
//
// Booleans, numbers, strings, and arrays, slices, pointers and structs of them,
// exported fields or not. Maps, channels, functions, interfaces, unsafe.Pointer
// and types that contain themselves are refused by [Check] and [For], which
// name the field. So are [time.Location] (and with it [time.Time]) and
// [unique.Handle], whose pointers mean more than what they point to. Arrays of
// length zero may be of any type.
//
// Nil and empty slices stay apart, as do nil pointers and pointers to zero
// values. Two pointers to one value come back as pointers to two.
//
// # Who owns what
//
// [Append] reads its argument and keeps none of it. What [Decode] returns lies
// in its input, so whoever decodes hands the input over: it must not be changed
// or used again while the result is in use. (The one owner of a result without
// pointers may change it in place; the input's bytes change with it.) The
// garbage collector keeps the input alive while anything points into it: three
// bytes of string keep a whole batch, so clone what is to outlive it. Slices
// are cut to their length: appending to one never writes over its neighbour.
//
// # Bytes that something else wrote
//
// Decode takes any bytes. It does not panic, reads nothing outside them, and
// allocates at most four times their number, give or take what the allocator
// rounds up. Every length is checked before it is used, a boolean must be 0 or
// 1, a frame must be used up exactly. There is no checksum: a flipped bit in a
// number is another number.
//
// # Layout
//
// A frame is a header of 24 bytes and a body. In all it is a multiple of 8
// bytes long, so that frames behind one another are aligned if the first is.
//
//	offset  bytes  what
//	0       4      magic 0x016c6677: "wfl" and version 1, on little-endian machines
//	4       4      fingerprint of the type
//	8       8      number of elements, or 2⁶⁴-1 for a nil slice
//	16      8      length of the frame, header and padding included
//
// The body is one block. A block is the fixed parts of its elements, then what
// they own: what the first owning field of each element owns, then the same of
// the second field, and so on. Fields of a struct within a struct count as the
// outer one's. An array whose elements own something is one field, and what
// they own has the order that it has in a block of them. A string owns its
// bytes, a slice a block of its elements, a pointer a block of one.
//
// The fixed part of a value is its memory, padding and blank fields zeroed,
// with 8 bytes in place of each string (its length in bytes), slice (its length
// in elements; 2⁶⁴-1: nil) and pointer (1; 0: nil). No address is ever written,
// nor what lies in padding. An element without size takes one byte, so that no
// count is larger than the frame.
//
// A block of elements without pointers begins at a multiple of their alignment,
// counted from the start of the frame. Other blocks, and the bytes of strings,
// follow directly. Bytes skipped are zero.
//
// Numbers are in the byte order of the machine, words have its size, fields its
// offsets. A frame from a machine of the other byte order is refused by its
// magic, one from a machine that lays out the type differently by the
// fingerprint, which covers kinds, sizes, offsets and field names, but not
// names of types.
package flat
