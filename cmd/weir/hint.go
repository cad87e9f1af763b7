package main

import (
	"errors"

	"weir/graph/store"
	"weir/graph/text"
)

// hintFor says what may help against an error, where something is known to.
func hintFor(err error) string {
	if _, ok := errors.AsType[*text.LineError](err); ok {
		return "--skip-bad N goes on past such lines; --columns, --separator, --header, --ids and --weights say how to read the others"
	}
	if _, ok := errors.AsType[*store.DamageError](err); ok {
		return "convert the graph again from its source, or restore the file from a copy"
	}
	if errors.Is(err, store.ErrNotGraph) {
		return `"weir graph verify" checks files that "weir graph convert" wrote; other files are checked by reading them`
	}
	return ""
}
