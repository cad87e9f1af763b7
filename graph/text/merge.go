package text

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"

	"weir/graph/names"
	"weir/internal/progress"
)

// reading is one call of [Read]: what is known of the parts merged so far. Only
// the goroutine that merges touches it, but for dictionary.
type reading struct {
	*plan
	in      *Input
	opt     *Options
	pool    *pool
	sink    func(Chunk) error
	threads int
	stage   *progress.Stage

	// dictionary says that integers go through one from now on. Parsers look at
	// it to save the merging some work; nothing depends on when they see it.
	dictionary atomic.Bool

	tally
	badLines []*LineError
	edges    int64
	entries  int64
	rows     int64 // METIS
	filled   int64 // METIS
	parsed   int64 // bytes of text
	shown    int64 // bytes that the progress knows of
	largest  int64 // with Options.KeepIDs; -1 is none

	seen    *names.Set // rawIDs
	rank    *names.Rank
	wide    names.Ints    // after the first wide integer
	strings names.Strings // string ids
	final   []uint32      // by number in the part's dictionary, for reuse
}

// merge takes the next part of the text.
func (r *reading) merge(ctx context.Context, out *part, src source) error {
	if err := ctx.Err(); err != nil {
		return r.blame(ctx, err)
	}
	if err := r.judge(out); err != nil {
		return err
	}
	raw := false
	var err error
	switch {
	case r.format == METIS:
		err = r.mergeRows(out)
	case out.mode == localStrings:
		err = r.mergeStrings(out)
	case out.mode == localInts:
		err = r.mergeInts(out)
	case out.mode == rawIDs && r.dictionary.Load():
		err = r.lookUp(out)
	case out.mode == rawIDs:
		raw = true
		for _, id := range out.fresh {
			r.seen.Add(id)
		}
	default:
		if len(out.edges) > 0 {
			r.largest = max(r.largest, int64(out.largest)+1)
		}
	}
	if err != nil {
		return err
	}
	r.tally.add(out.tally)
	r.entries += out.entries
	r.edges += int64(len(out.edges))
	r.parsed += out.size
	if now := src.progress(r.parsed); now > r.shown {
		r.stage.Add(now - r.shown)
		r.shown = now
	}
	if len(out.edges) == 0 {
		r.pool.put(out.edges, out.weights)
		return nil
	}
	return r.sink(Chunk{Edges: out.edges, Weights: out.weights, Raw: raw, pool: r.pool})
}

// judge gives the bad lines of a part their place in the text and decides
// whether they are too many, or the part is the last one that can be read.
func (r *reading) judge(out *part) error {
	for _, b := range out.badLines {
		if len(r.badLines) < maxSamples {
			r.badLines = append(r.badLines, &LineError{File: r.in.name, Line: r.lines + b.line, Reason: b.reason, Text: b.text})
		}
	}
	if bad := r.bad + out.bad; bad > 0 && r.opt.SkipBad == 0 {
		return fmt.Errorf("read graph: %w", r.badLines[0])
	} else if r.opt.SkipBad > 0 && bad > int64(r.opt.SkipBad) {
		return fmt.Errorf("read graph: more than %d bad lines; the first is %w", r.opt.SkipBad, r.badLines[0])
	}
	if out.fatal == nil {
		return nil
	}
	if at, ok := errors.AsType[*LineError](out.fatal); ok {
		moved := *at
		moved.Line += r.lines
		return fmt.Errorf("read graph: %w", &moved)
	}
	return out.fatal
}

// mergeStrings gives a part's strings their numbers.
func (r *reading) mergeStrings(out *part) error {
	if int64(r.strings.Len())+int64(out.strings.Len()) > names.Limit {
		return r.tooMany() // or nearly so
	}
	r.final = r.strings.AddAll(out.strings, r.final[:0])
	out.strings.Reset()
	r.pool.strings.Put(out.strings)
	r.renumber(out.edges)
	return nil
}

// mergeInts gives a part's integers their numbers.
func (r *reading) mergeInts(out *part) error {
	if !r.dictionary.Load() {
		r.openDictionary()
	}
	if int64(r.wide.Len())+int64(out.ints.Len()) > names.Limit {
		return r.tooMany() // or nearly so
	}
	r.final = r.wide.AddAll(out.ints.Keys(), r.final[:0])
	out.ints.Reset()
	r.pool.ints.Put(out.ints)
	r.renumber(out.edges)
	return nil
}

// renumber puts final numbers in the place of a part's own.
func (r *reading) renumber(edges []uint64) {
	final := r.final
	for i, e := range edges {
		edges[i] = uint64(final[e>>32])<<32 | uint64(final[uint32(e)])
	}
}

// openDictionary fixes the numbers of the integers seen so far, all below 2³²:
// their ranks.
func (r *reading) openDictionary() {
	r.rank = r.seen.Rank()
	for _, id := range r.seen.AppendTo(nil) {
		r.wide.Add(uint64(id))
	}
	r.dictionary.Store(true)
}

// lookUp renumbers a part that was parsed before the dictionary was opened.
func (r *reading) lookUp(out *part) error {
	for i, e := range out.edges {
		if int64(r.wide.Len()) > names.Limit-2 {
			return r.tooMany()
		}
		s := r.wide.Add(e >> 32)
		out.edges[i] = uint64(s)<<32 | uint64(r.wide.Add(uint64(uint32(e))))
	}
	return nil
}

func (r *reading) tooMany() error {
	return fmt.Errorf("read graph %s: more than %d vertices", r.in.name, uint64(names.Limit))
}

// mergeRows moves the sources of a part to their rows in the file.
func (r *reading) mergeRows(out *part) error {
	if over := r.rows + out.filled; out.filled > 0 && over > int64(r.limit) {
		return fmt.Errorf("read graph %s: row %d, but the header promises %d vertices", r.in.name, over, r.limit)
	}
	by := uint64(r.rows) << 32
	for i, e := range out.edges {
		e += by
		if e>>32 == e&math.MaxUint32 {
			out.selfLoops++
		}
		out.edges[i] = e
	}
	if out.filled > 0 {
		r.filled = r.rows + out.filled
	}
	r.rows += out.rows
	return nil
}

// result is called when all parts are merged.
func (r *reading) result() (*Result, error) {
	res := &Result{
		Edges:      r.edges,
		Undirected: r.mirror || r.format == METIS,
		Weighted:   r.weighted,
		Report: Report{
			File: r.in.name, Format: r.format, Compression: r.in.compression,
			Header: r.header, Lines: r.lines, Comments: r.comments, Blank: r.blank, Missing: r.missing,
			Bad: r.bad, Edges: r.edges, SelfLoops: r.selfLoops, Rounded: r.rounded, BadLines: r.badLines,
		},
	}
	rep := &res.Report
	if r.format == EdgeList {
		rep.Separator = r.sep
		if r.weighted {
			rep.WeightColumn, rep.WeightGuessed = r.wgt+1, r.guessed
		}
	}
	if err := r.countEntries(); err != nil {
		return nil, err
	}
	switch {
	case r.fixed:
		res.Vertices = int(r.limit)
		res.Names = names.Offset(r.base, res.Vertices)
		rep.IDs = fmt.Sprintf("integers, %d to %d", r.base, r.base+r.limit-1)
		if r.limit == 0 {
			rep.IDs = "integers"
		}
	case !r.integers:
		res.Vertices = r.strings.Len()
		res.Names = r.strings.Table()
		rep.IDs = fmt.Sprintf("%d strings", res.Vertices)
	case r.opt.KeepIDs:
		res.Vertices = int(r.largest)
		rep.IDs = fmt.Sprintf("integers, %d vertices up to the largest", res.Vertices)
	case r.dictionary.Load():
		res.Vertices = r.wide.Len()
		res.Rank = r.rank
		res.Names = r.wide.Table()
		rep.IDs = fmt.Sprintf("%d integers of up to 64 bits", res.Vertices)
	default:
		if int64(r.seen.Len()) > names.Limit {
			return nil, r.tooMany()
		}
		res.Vertices = r.seen.Len()
		res.Rank = r.seen.Rank()
		rep.IDs = "integers"
		if res.Vertices > 0 {
			rep.IDs = fmt.Sprintf("integers, 0 to %d without gaps", res.Vertices-1)
		}
		if !res.Rank.Identity() {
			last, _ := r.seen.Max()
			rep.IDs = fmt.Sprintf("%d integers with gaps, up to %d", res.Vertices, last)
			res.Names = names.Ascending32(r.seen.AppendTo(nil))
		}
	}
	if res.Rank != nil && res.Rank.Identity() {
		res.Rank = nil
	}
	return res, nil
}

// countEntries compares what the file promised with what came. Lines that were
// skipped as bad excuse the rest.
func (r *reading) countEntries() error {
	if r.format == METIS {
		if r.filled > int64(r.limit) {
			return fmt.Errorf("read graph %s: %d rows, but the header promises %d vertices", r.in.name, r.filled, r.limit)
		}
		// A row lists a self-loop once or twice.
		if once, twice := r.entries+r.selfLoops, r.entries; r.bad == 0 && uint64(once) != 2*uint64(r.promised) && uint64(twice) != 2*uint64(r.promised) {
			return fmt.Errorf("read graph %s: its rows have %d entries, but the header promises %d edges, each in two rows", r.in.name, r.entries, r.promised)
		}
		return nil
	}
	if want := r.promised; want >= 0 && r.entries != want && r.bad == 0 {
		return fmt.Errorf("read graph %s: it has %d entries, but promises %d", r.in.name, r.entries, want)
	}
	return nil
}
