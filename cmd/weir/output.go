package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"weir/internal/table"
)

// format is how results are written.
type format int

const (
	autoFormat format = iota
	tableFormat
	csvFormat
	tsvFormat
	jsonFormat
	vectorFormat
)

// terminalRows is how many results a terminal shows unless told otherwise.
const terminalRows = 20

// outputFlags say which results are written, how and where to.
type outputFlags struct {
	top    int
	file   string
	ids    string
	format *choice[format]
	labels labelFlag
}

// addOutputFlags defines the flags of results; what says what --top counts.
func addOutputFlags(cmd *cobra.Command, what string) *outputFlags {
	o := &outputFlags{format: choose(word[format]{"auto", autoFormat}, word[format]{"table", tableFormat}, word[format]{"csv", csvFormat},
		word[format]{"tsv", tsvFormat}, word[format]{"json", jsonFormat}, word[format]{"vector", vectorFormat})}
	flags := cmd.Flags()
	flags.IntVarP(&o.top, "top", "k", -1, "only the first `k` "+what+" (default 20 on a terminal, else all)")
	flags.Lookup("top").DefValue = "0" // the text says it
	flags.StringVarP(&o.file, "output", "o", "-", "write to `file`: .csv, .tsv, .json, .txt or .bin, perhaps .gz or .zst; - is standard output")
	addChoice(cmd, o.format, "format", "how to write")
	flags.Var(&o.labels, "labels", "show names beside ids: `file:id,name` is a CSV or TSV file and its columns of ids and names")
	flags.StringVar(&o.ids, "ids-output", "", "write the id of each vertex to `file`, a line each, in the order of a vector")
	return o
}

// document is a result as JSON; its rows, if there are any, follow.
type document struct {
	Graph   graphSummary       `json:"graph"`
	Result  any                `json:"result"`
	Seconds map[string]float64 `json:"seconds"`
}

// target is a decided output.
type target struct {
	format format
	top    int  // below 0: all
	cut    bool // whether top was decided here
	file   bool
}

// decide settles what the flags leave open, before any work is done.
func (o *outputFlags) decide(a *app) (target, error) {
	t := target{format: o.format.value, top: o.top, file: o.file != "-"}
	if t.top < -1 {
		return t, usagef("--top is %d, expected 0 or more", t.top)
	}
	if t.format == autoFormat {
		switch ext := extension(o.file); {
		case t.file && ext == ".csv":
			t.format = csvFormat
		case t.file && ext == ".tsv":
			t.format = tsvFormat
		case t.file && ext == ".json":
			t.format = jsonFormat
		case t.file && ext == ".txt":
			t.format = tableFormat
		case t.file && ext == ".bin":
			t.format = vectorFormat
		case t.file:
			return t, usagef("--output %s: cannot tell the format from the name; end it in .csv, .tsv, .json, .txt or .bin, or add --format", o.file)
		case a.json:
			t.format = jsonFormat
		case a.onTerminal():
			t.format = tableFormat
		default:
			t.format = csvFormat
		}
	}
	if t.file {
		// A folder that is missing is not to be found out after an hour's work.
		if _, err := os.Stat(filepath.Dir(o.file)); err != nil {
			if e, ok := errors.AsType[*fs.PathError](err); ok {
				err = e.Err
			}
			return t, fmt.Errorf("write %s: %w", o.file, err)
		}
	}
	switch {
	case a.json && !t.file && t.format != jsonFormat:
		return t, usagef("--json and --format %v both ask for standard output; send one to a file with --output", o.format)
	case t.format == vectorFormat && t.top >= 0:
		return t, usagef("a vector holds all vertices: it cannot be cut with --top")
	case t.format == vectorFormat && !t.file && a.onTerminal():
		return t, usagef("a vector is binary and would garble the terminal; send it to a file with --output")
	case t.format == tableFormat && t.top < 0:
		t.top, t.cut = terminalRows, true
	}
	return t, nil
}

// onTerminal says whether standard output is one.
func (a *app) onTerminal() bool {
	file, ok := a.out.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// deliver writes the rows of a result, or those of first where only the first
// few are wanted, and its summary where JSON asks for it.
func (g *opened) deliver(ctx context.Context, o *outputFlags, t target, result any, all, first *rows) error {
	a := g.app
	names, err := o.labels.read()
	if err != nil {
		return err
	}
	r := all
	if t.top >= 0 {
		r = first
	}
	write := func(w *bufio.Writer) error { return r.write(ctx, w, t, names) }
	if t.format == jsonFormat {
		write = func(w *bufio.Writer) error { return g.writeDocument(ctx, w, result, r, t, names) }
	}
	if o.ids != "" {
		if err := writeFile(o.ids, func(w *bufio.Writer) error { return all.writeIDs(w) }); err != nil {
			return err
		}
		a.note("wrote %s", o.ids)
	}
	if !t.file {
		return write(a.stdout)
	}
	if err := writeFile(o.file, write); err != nil {
		return err
	}
	a.note("wrote %s", o.file)
	if a.json {
		return a.printJSON(document{g.summary(), result, g.seconds})
	}
	return nil
}

// writeDocument writes a result and its rows as one JSON object.
func (g *opened) writeDocument(ctx context.Context, w *bufio.Writer, result any, r *rows, t target, names labels) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(document{g.summary(), result, g.seconds}); err != nil {
		return err
	}
	w.WriteString(strings.TrimSuffix(b.String(), "\n}\n"))
	w.WriteString(",\n  \"rows\": [")
	if err := r.write(ctx, w, t, names); err != nil {
		return err
	}
	_, err := w.WriteString("\n  ]\n}\n")
	return err
}

// write writes rows in the target's format.
func (r *rows) write(ctx context.Context, w *bufio.Writer, t target, names labels) error {
	switch t.format {
	case tableFormat:
		return r.writeTable(w, t, names)
	case vectorFormat:
		return r.writeVector(w)
	}
	var line []byte
	separator := byte(',')
	if t.format == tsvFormat {
		separator = '\t'
	}
	if t.format != jsonFormat {
		line = append(line, r.id...)
		if names != nil {
			line = append(append(line, separator), "label"...)
		}
		for _, c := range r.columns {
			line = append(append(line, separator), c.name...)
		}
		w.Write(append(line, '\n')) // bufio keeps the error
	}
	n := 0
	return r.each(t.top, func(v uint32) error {
		if n++; n%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		line = line[:0]
		if t.format == jsonFormat {
			if n > 1 {
				line = append(line, ',')
			}
			line = r.appendJSON(append(line, "\n    "...), v, names)
		} else {
			line = append(r.appendFields(line, v, separator, names), '\n')
		}
		_, err := w.Write(line)
		return err
	})
}

// appendFields appends a line of CSV or TSV without its end.
func (r *rows) appendFields(line []byte, v uint32, separator byte, names labels) []byte {
	begin := len(line)
	line = quoteField(r.g.Names.Append(line, v), begin, separator)
	if names != nil {
		label := names[r.g.Names.Name(v)]
		line = append(line, separator)
		begin = len(line)
		line = quoteField(append(line, label...), begin, separator)
	}
	for _, c := range r.columns {
		line = append(line, separator)
		begin = len(line)
		line = c.append(line, v)
		if c.named {
			line = quoteField(line, begin, separator)
		}
	}
	return line
}

// quoteField quotes the field that begins at begin where CSV needs it.
func quoteField(line []byte, begin int, separator byte) []byte {
	field := line[begin:]
	if !bytes.ContainsAny(field, "\"\r\n") && bytes.IndexByte(field, separator) < 0 {
		return line
	}
	quoted := `"` + strings.ReplaceAll(string(field), `"`, `""`) + `"`
	return append(line[:begin], quoted...)
}

// appendJSON appends a row as an object. Ids are strings, whatever they look like.
func (r *rows) appendJSON(line []byte, v uint32, names labels) []byte {
	id := r.g.Names.Name(v)
	line = append(append(append(line, `{"`...), r.id...), `": `...)
	line = appendString(line, id)
	if names != nil {
		line = appendString(append(line, `, "label": `...), names[id])
	}
	for _, c := range r.columns {
		line = append(append(append(line, `, "`...), c.name...), `": `...)
		if c.named {
			line = appendString(line, string(c.append(nil, v)))
		} else {
			line = c.append(line, v)
		}
	}
	return append(line, '}')
}

func appendString(line []byte, s string) []byte {
	quoted, err := json.Marshal(s)
	if err != nil { // a string always has a form
		return append(line, `""`...)
	}
	return append(line, quoted...)
}

// writeTable writes the first rows for people to read.
func (r *rows) writeTable(w *bufio.Writer, to target, names labels) error {
	columns := []table.Column{table.Right(""), table.Left(r.id)}
	if names != nil {
		columns = append(columns, table.Left("label"))
	}
	for _, c := range r.columns {
		if c.named {
			columns = append(columns, table.Left(c.name))
		} else {
			columns = append(columns, table.Right(c.name))
		}
	}
	t := table.New(columns...)
	err := r.each(to.top, func(v uint32) error {
		id := r.g.Names.Name(v)
		cells := []any{t.Len() + 1, id}
		if names != nil {
			cells = append(cells, names[id])
		}
		for _, c := range r.columns {
			value := string(c.append(nil, v))
			if !c.named {
				value = readable(value)
			}
			cells = append(cells, value)
		}
		t.Row(cells...)
		return nil
	})
	if err != nil {
		return err
	}
	if err := t.WriteText(w); err != nil {
		return err
	}
	if total := r.count(); to.cut && total > int64(t.Len()) {
		r.g.app.note("%d of %s shown; --top says how many, --output FILE.csv writes all", t.Len(), humanize.Comma(total))
	}
	return nil
}

// count is the number of rows there are in all.
func (r *rows) count() (n int64) {
	if r.has == nil {
		return int64(r.g.Vertices)
	}
	for v := range uint32(r.g.Vertices) {
		if r.has(v) {
			n++
		}
	}
	return n
}

// readable rounds a number to six digits and separates its thousands.
func readable(number string) string {
	if strings.ContainsAny(number, ".e") && len(number) > len("1.23456") {
		if x, err := strconv.ParseFloat(number, 64); err == nil {
			format := byte('f')
			digits := 5 - int(math.Floor(math.Log10(math.Abs(x))))
			if x == 0 || math.Abs(x) < 1e-4 {
				format, digits = 'e', 5
			}
			number = strconv.FormatFloat(x, format, max(digits, 0), 64)
		}
	}
	return table.Thousands(number)
}
