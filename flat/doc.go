// Package flat turns slices of values into bytes and back at the speed of
// memory, for batches that travel between processes that run the same program.
//
//	b := flat.Append(nil, []Edge{{1, 2}, {2, 3}})
//	edges, n, err := flat.Decode[Edge](b) // n == len(b); edges may lie in b
//
// A type's plan is compiled by reflection when the type is first seen and kept.
// A slice of a type without pointers is one copy to write, and none to read:
// the result lies in the input wherever the alignment allows. Strings, nested
// slices and pointers are followed: strings and pointer-free slices of the
// result lie in the input too, so that decoding costs one allocation for each
// kind of element that holds a pointer, however many there are.
//
// # Which types
//
// Booleans, numbers, strings, and arrays, slices, pointers and structs of them,
// exported fields or not. Maps, channels, functions, interfaces,
// unsafe.Pointer and types that contain themselves are refused by [Check] and
// [For], which name the field. So are [time.Location] (and with it [time.Time])
// and [unique.Handle], whose pointers mean more than what they point to.
// Arrays of length zero may be of any type. Nil and empty slices stay apart, as do nil
// pointers and pointers to zero values; two pointers to one value come back as
// pointers to two.
//
// # Who owns what
//
// Append reads its argument and keeps none of it. What Decode returns may lie
// in its input, so whoever decodes hands the input over: it must not be changed or
// used again while the result is in use. (A pointer-free result may be changed
// in place, by its one owner, and the input's bytes change with it.) The garbage collector keeps the input
// alive for as long as anything points into it: a kept string of three bytes
// keeps the whole batch, so clone what is to outlive it. Slices are cut to
// their length: appending to one never writes over its neighbour.
//
// # Bytes that something else wrote
//
// Decode accepts any bytes without panicking, reads nothing outside them, and allocates at most
// four times their number, beside a constant. Every length is checked before it is used;
// a boolean must be 0 or 1; a frame must be used up exactly. There is no checksum: a flipped
// bit in a number is another number.
//
// # Layout
//
// A frame is a header of 24 bytes and a body, in all a multiple of 8 bytes, so that
// frames behind one another stay aligned when the first is:
//
//	offset  bytes  what
//	0       4      magic 0x016c6677: "wfl" and version 1, on little-endian machines
//	4       4      fingerprint of the type
//	8       8      number of elements, or 2⁶⁴-1 for a nil slice
//	16      8      length of the frame, header and padding included
//
// The body is one block. A block is the fixed parts of its elements, then what
// they own: all that the first owning field of each element owns, then all of the second
// field, and so on. Fields of a struct within a struct count as fields of the outer; an array whose
// elements own something counts as one field, and what its elements own is in the
// order that a block of them has. A string owns its bytes, a slice a block of its
// elements, a pointer a block of one.
//
// The fixed part of a value is its memory, with padding and blank fields zeroed, and
// with each string, slice and pointer replaced by 8 bytes: a string's length
// in bytes, a slice's length in elements (2⁶⁴-1: nil), or 1 for a pointer (0:
// nil). No address is ever written, nor what lies in padding. An element without size takes one byte, so that
// a frame's counts are bounded by its length.
//
// A block of elements without pointers begins at a multiple of their alignment, counted
// from the frame's start. Other blocks, and the bytes of strings, follow directly.
// Bytes skipped are zero.
//
// Numbers are in the byte order of the machine, words have its size and fields its offsets. A frame from a
// machine of the other byte order is refused by its magic, one from a
// machine that lays the type out differently by the fingerprint, which covers
// kinds, sizes, offsets and field names, but not the names of types.
package flat
