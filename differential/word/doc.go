// Package word maps values of any comparable type to words (uint64) and back, so that
// the indices of a dataflow are made of integers, which sort fast, are compared in one
// instruction, and are not scanned by the garbage collector.
//
//	var lexicons word.Lexicons // one for each worker
//	codec, err := word.New[Edge](&lexicons)
//	w := codec.Word(Edge{1, 2})
//	e := codec.Value(w) // Edge{1, 2}
//
// # Packed types
//
// Types of at most eight bytes of content (numbers, booleans, and arrays and structs of
// them; padding and blank fields do not count) are packed: the word is the value. Packed
// words compare as their values do: numbers by size, false before true, arrays, structs and
// complex numbers by their first part that differs. Floats have a total order, that of
// IEEE 754 for numbers: NaNs with the sign bit, -Inf, …, -0, +0, …, +Inf, the other NaNs.
//
// # Interned types
//
// Other types made of numbers, booleans, strings, arrays and structs are interned: their
// words are numbers given out by a lexicon of the worker, in no order that means anything,
// and mean nothing to other workers. A lexicon keeps a value as bytes: strings and numbers
// one behind the other, in chunks, which together with the table of words are nothing for
// the garbage collector to look into. What nobody holds is forgotten now and then: see
// [Codec.HoldColumns], [Codec.Hold] and [Lexicons.Tidy].
//
// # What is the same
//
// Two values have the same word if their bits are the same. That is what == says, but
// for floats: -0 and +0 have two words, and a NaN has one, by which it is found again.
// A value that comes back from a word is bit for bit what it was, but for its padding and
// blank fields.
package word
