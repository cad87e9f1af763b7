package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"weir/internal/progress"
	"weir/internal/table"
	"weir/series"
	"weir/series/names"
	"weir/series/text"
)

// earliestMeant is in 1973. Times before are more likely seconds, milliseconds or microseconds than nanoseconds.
const earliestMeant = 1e17

// commitPoints is how many points are loaded between commits.
const commitPoints = 1 << 17

// loadResult is what load prints as JSON.
type loadResult struct {
	Points  int64        `json:"points"` // stored for sure
	Bad     int64        `json:"bad"`
	Refused []badPoints  `json:"refused"`
	Seconds float64      `json:"seconds"`
	Files   []loadedFile `json:"files"`
	Stopped *stopped     `json:"stopped,omitempty"`
}

// stopped is where loading ended early.
type stopped struct {
	Path  string `json:"path"`
	Line  int64  `json:"line"`  // up to which it was read
	Exact bool   `json:"exact"` // the points of all lines up to this one are stored, and of no others
}

func (s *stopped) String() string {
	path := inputName(s.Path)
	switch {
	case s.Line == 0:
		return "before the first line of " + path
	case s.Exact:
		return fmt.Sprintf("behind line %s of %s", humanize.Comma(s.Line), path)
	}
	return fmt.Sprintf("near line %s of %s", humanize.Comma(s.Line), path)
}

type badPoints struct {
	Reason string   `json:"reason"`
	Count  int64    `json:"count"`
	First  []string `json:"first"`
}

type loadedFile struct {
	Path   string `json:"path"`
	Format string `json:"format"`
	Points int64  `json:"points"`
	Bad    int64  `json:"bad"`
}

func (a *app) seriesLoadCommand() *cobra.Command {
	var l loader
	cmd := &cobra.Command{
		Use:   "load DIR [FILE...]",
		Short: "Store points",
		Long: `Store the points of files, or of standard input, in a directory, which is made where there is none. Files may
be CSV, RESP (the protocol of Akumuli), OpenTSDB put lines or the Influx line protocol, which is found out, and compressed.

CSV has a header that says which column is the time; columns of numbers are metrics, other columns are tags:

  time,host,cpu,mem
  2017-01-02T03:04:05Z,a,0.5,1024

Points of bad lines are left out, and told of; all others are stored. The exit code is then 1, unless there are no
more bad ones than --skip-bad allows. When it is interrupted, what was read is stored, and it says up to which line;
what comes slowly, as from a pipe, is stored after a second or two.

Too old points are taken away at the end, and now and then before, where --retention says how old they may be.`,
		Example: `  weir series load data cpu.csv.gz mem.csv.gz
  weir series load data temperatures.csv --metric temperature --tags room=kitchen
  zcat metrics.influx.gz | weir series load data --format influx --sync always`,
		Args: cobra.MinimumNArgs(1),
	}
	f := cmd.Flags()
	format := choose(word[text.Format]{"auto", text.Auto}, word[text.Format]{"csv", text.CSV}, word[text.Format]{"resp", text.RESP},
		word[text.Format]{"opentsdb", text.OpenTSDB}, word[text.Format]{"influx", text.Influx})
	addChoice(cmd, format, "format", "format of the files")
	unit := choose(word[time.Duration]{"auto", 0}, word[time.Duration]{"s", time.Second}, word[time.Duration]{"ms", time.Millisecond},
		word[time.Duration]{"us", time.Microsecond}, word[time.Duration]{"ns", time.Nanosecond})
	addChoice(cmd, unit, "unit", "unit of times that are numbers, in CSV and Influx")
	f.StringVar(&l.options.Metric, "metric", "", "what points of a CSV without names are called")
	f.StringVar(&l.options.Tags, "tags", "", "`tags`, such as host=a, of names in CSV and Influx that have none")
	f.Int64Var(&l.skip, "skip-bad", 0, "accept up to `n` bad lines (-1: any number)")
	l.flags = addStoreFlags(cmd)
	cmd.RunE = a.run(func(ctx context.Context, args []string) error {
		o, err := l.flags.store()
		if err != nil {
			return err
		}
		if l.options.Tags != "" {
			if _, err := names.Canonical(nil, []byte("m "+l.options.Tags)); err != nil {
				return usagef("--tags: %q; expected tags as in names, host=a dc=x", l.options.Tags)
			}
		}
		if err := checkFiles(args[1:]); err != nil {
			return err
		}
		l.app, l.options.Format, l.options.Unit = a, format.value, unit.value
		return a.withStore(ctx, args[0], o, true, func(st *series.Store) error { return l.run(ctx, st, args[1:]) })
	})
	return cmd
}

// loader reads files into a store.
type loader struct {
	app     *app
	flags   *storeFlags
	options text.Options
	skip    int64

	writer  *series.Writer
	ids     map[string]names.ID
	pending int64     // points since the last commit
	last    time.Time // when the last commit was
	failed  bool      // a commit did
	early   int64     // points of Influx, without --unit, of times that were hardly meant
	result  loadResult
}

func (l *loader) run(ctx context.Context, st *series.Store, paths []string) error {
	begin := time.Now()
	if len(paths) == 0 {
		paths = []string{"-"}
	}
	l.options.Skip = true
	l.options.Now = begin.UnixNano()
	l.writer, l.last = st.Writer(), begin
	l.ids = map[string]names.ID{}
	l.result.Refused, l.result.Files = []badPoints{}, []loadedFile{}
	err := l.files(ctx, paths)
	// What was read is stored, whatever ended it.
	if e := l.commit(ctx); e != nil && err == nil {
		err = e
	}
	if s := l.result.Stopped; s != nil && l.failed {
		s.Exact = false
	}
	if err == nil {
		err = l.flags.retention.retain(ctx, st)
	}
	l.result.Seconds = time.Since(begin).Seconds()
	return errors.Join(l.report(), err, l.verdict(err))
}

// commit stores the points since the last one, even when ctx has ended.
func (l *loader) commit(ctx context.Context) error {
	err := l.writer.Commit(context.WithoutCancel(ctx))
	refused, ok := errors.AsType[*series.RefusedError](err)
	switch {
	case err == nil:
		l.result.Points += l.pending
	case ok:
		l.result.Points += l.pending - int64(refused.Points)
	}
	l.failed = l.failed || err != nil
	l.pending, l.last = 0, time.Now()
	return err
}

func (l *loader) files(ctx context.Context, paths []string) error {
	for _, path := range paths {
		if err := l.file(ctx, path); err != nil {
			return fmt.Errorf("load %s: %w", inputName(path), err)
		}
	}
	return nil
}

func (l *loader) file(ctx context.Context, path string) error {
	l.result.Stopped = &stopped{Path: path, Exact: true}
	in, size := l.app.stdin, int64(0)
	if path != "-" {
		f, err := await(ctx, func() (*os.File, error) { return os.Open(path) }, nil)
		if err != nil {
			return err
		}
		defer f.Close()
		if info, err := f.Stat(); err == nil {
			size = info.Size()
		}
		in = f
	}
	stage := progress.Start(ctx, filepath.Base(path), size, progress.Bytes)
	defer stage.Done()
	plain, _, err := text.Decompress(&input{ctx: ctx, in: in, stage: stage, idle: func() error { return l.commit(ctx) }})
	if err != nil {
		return err
	}
	lines := &lineCounter{in: plain}
	r := text.NewReader(lines, l.options)
	read, err := l.points(ctx, r)
	l.count(path, r)
	if err != nil {
		// What could be read was, to the end of the last line; of RESP some lines may be of a point that is not whole.
		l.result.Stopped.Line, l.result.Stopped.Exact = lines.lines, read && r.Format() != text.RESP
		return err
	}
	l.result.Stopped = nil
	return plain.Close()
}

// count adds what was read of a file to the result.
func (l *loader) count(path string, r *text.Reader) {
	report := r.Report()
	l.result.Files = append(l.result.Files, loadedFile{path, r.Format().String(), report.Points, report.Skipped})
	l.result.Bad += report.Skipped
	for _, refused := range report.Refused {
		bad := badPoints{Reason: refused.Reason, Count: refused.Count}
		for _, e := range refused.First {
			bad.First = append(bad.First, table.Printable(fmt.Sprintf("%s:%d: %s", inputName(path), e.Line, e.Message())))
		}
		l.result.Refused = append(l.result.Refused, bad)
	}
}

// points adds all points. It reports whether it could add what it could read.
func (l *loader) points(ctx context.Context, r *text.Reader) (read bool, err error) {
	var refs []names.ID // by Row.Ref, less 1; noID where it is not known
	for {
		rows, err := r.Next()
		if errors.Is(err, io.EOF) {
			return true, nil
		}
		if err != nil {
			return true, err
		}
		doubtful := r.Format() == text.Influx && l.options.Unit == 0
		for i := range rows {
			if doubtful && 0 < rows[i].Time && rows[i].Time < earliestMeant {
				l.early++
			}
			id, ok, err := l.id(r, &refs, i, &rows[i])
			if err != nil {
				return false, err
			}
			if !ok {
				continue
			}
			if err := l.add(r, i, id, &rows[i]); err != nil {
				return false, err
			}
		}
		if l.pending >= commitPoints || time.Since(l.last) >= idleAfter {
			if err := l.commit(ctx); err != nil {
				return false, err
			}
		}
	}
}

func (l *loader) add(r *text.Reader, i int, id names.ID, row *text.Row) error {
	if row.Text != nil && len(row.Text) > series.MaxText {
		return r.Refuse(i, "an event that is too long", fmt.Sprintf("%d bytes, at most %d", len(row.Text), series.MaxText))
	}
	l.pending++
	if row.Text != nil {
		return l.writer.AddEvent(id, row.Time, row.Text)
	}
	return l.writer.Add(id, row.Time, row.Value)
}

const noID = ^names.ID(0)

// id is that of the series of a row; false if its name is refused.
func (l *loader) id(r *text.Reader, refs *[]names.ID, i int, row *text.Row) (names.ID, bool, error) {
	for int(row.Ref) > len(*refs) {
		*refs = append(*refs, noID)
	}
	if row.Ref > 0 && (*refs)[row.Ref-1] != noID {
		return (*refs)[row.Ref-1], true, nil
	}
	id, ok := l.ids[string(row.Name)]
	if !ok {
		var err error
		id, err = l.writer.SeriesBytes(row.Name)
		var bad *names.SyntaxError
		if errors.As(err, &bad) {
			return 0, false, r.Refuse(i, text.ReasonName, bad.Error())
		}
		if err != nil {
			return 0, false, err
		}
		if len(l.ids) >= 1<<20 {
			clear(l.ids)
		}
		l.ids[string(row.Name)] = id
	}
	if row.Ref > 0 {
		(*refs)[row.Ref-1] = id
	}
	return id, true, nil
}

func (l *loader) report() error {
	a, r := l.app, &l.result
	for _, bad := range r.Refused {
		for _, first := range bad.First {
			fmt.Fprintf(a.stderr, "weir: %s\n", first)
		}
		if more := bad.Count - int64(len(bad.First)); more > 0 {
			fmt.Fprintf(a.stderr, "weir: and %s more: %s\n", humanize.Comma(more), bad.Reason)
		}
	}
	if a.json {
		return a.printJSON(r)
	}
	points := english.PluralWord(int(r.Points), "point", "")
	a.note("%s %s stored in %.2f s, %s a second", humanize.Comma(r.Points), points, r.Seconds, formatCount(float64(r.Points)/max(r.Seconds, 1e-9)))
	if r.Stopped != nil {
		a.note("stopped %v", r.Stopped)
	}
	if l.early > 0 {
		a.note("%s times, read as nanoseconds, are before 1973; --unit says what they are in", humanize.Comma(l.early))
	}
	return nil
}

// verdict is an error if there are more bad lines than are accepted, and there is no other error.
func (l *loader) verdict(err error) error {
	if err != nil || l.skip < 0 || l.result.Bad <= l.skip {
		return nil
	}
	hint := ""
	for _, bad := range l.result.Refused {
		if l.options.Tags == "" && bad.Reason == text.ReasonName && strings.Contains(bad.First[0], "no tags") {
			hint = "; --tags gives names tags that have none"
		}
	}
	return fmt.Errorf("bad lines that were left out: %s; --skip-bad accepts %d%s", humanize.Comma(l.result.Bad), l.skip, hint)
}
