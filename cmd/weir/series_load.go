package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"weir/internal/progress"
	"weir/series"
	"weir/series/names"
	"weir/series/text"
)

// commitPoints is how many points are loaded between commits.
const commitPoints = 1 << 17

// loadResult is what load prints as JSON.
type loadResult struct {
	Points  int64        `json:"points"`
	Bad     int64        `json:"bad"`
	Refused []badPoints  `json:"refused"`
	Seconds float64      `json:"seconds"`
	Files   []loadedFile `json:"files"`
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
more bad ones than --skip-bad allows.`,
		Example: `  weir series load data cpu.csv.gz mem.csv.gz
  weir series load data temperatures.csv --metric temperature --tags room=kitchen
  zcat metrics.influx.gz | weir series load data --format influx`,
		Args: cobra.MinimumNArgs(1),
	}
	f := cmd.Flags()
	format := f.String("format", "auto", "`format` of the files: auto, csv, resp, opentsdb or influx")
	sync := f.String("sync", "interval", "when the log is synced: always, interval or never")
	unit := f.String("unit", "", "`unit` of times that are numbers, in CSV and Influx: s, ms, us or ns")
	f.StringVar(&l.options.Metric, "metric", "", "what points of a CSV without names are called")
	f.StringVar(&l.options.Tags, "tags", "", "`tags`, such as host=a, of names in CSV and Influx that have none")
	f.Int64Var(&l.skip, "skip-bad", 0, "accept up to `n` bad lines (-1: any number)")
	f.BoolVar(&l.store.NoLog, "no-log", false, "do without a log: if it is killed, the points of this call may be lost")
	cmd.RunE = a.run(func(ctx context.Context, args []string) (err error) {
		if l.store.Sync, err = series.ParseSyncMode(*sync); err != nil {
			return usagef("--sync: %w", err)
		}
		if l.options.Format, err = text.ParseFormat(*format); *format != "auto" && err != nil {
			return usagef("--format: %w", err)
		}
		units := map[string]time.Duration{"": 0, "s": time.Second, "ms": time.Millisecond, "us": time.Microsecond, "ns": time.Nanosecond}
		var ok bool
		if l.options.Unit, ok = units[*unit]; !ok {
			return usagef("--unit: %q; expected s, ms, us or ns", *unit)
		}
		l.app = a
		return a.withStore(ctx, args[0], l.store, true, func(st *series.Store) error { return l.run(ctx, st, args[1:]) })
	})
	return cmd
}

// loader reads files into a store.
type loader struct {
	app     *app
	store   series.Options
	options text.Options
	skip    int64

	writer *series.Writer
	ids    map[string]names.ID
	result loadResult
}

func (l *loader) run(ctx context.Context, st *series.Store, paths []string) error {
	begin := time.Now()
	if len(paths) == 0 {
		paths = []string{"-"}
	}
	l.options.Skip = true
	l.options.Now = begin.UnixNano()
	l.writer = st.Writer()
	l.ids = map[string]names.ID{}
	l.result.Refused, l.result.Files = []badPoints{}, []loadedFile{}
	err := l.files(ctx, paths)
	// What was read is stored, whatever ended it.
	if e := l.writer.Commit(context.WithoutCancel(ctx)); err == nil {
		err = e
	}
	l.result.Seconds = time.Since(begin).Seconds()
	return errors.Join(l.report(), err, l.verdict(err))
}

func (l *loader) files(ctx context.Context, paths []string) error {
	for _, path := range paths {
		if err := l.file(ctx, path); err != nil {
			return fmt.Errorf("load %s: %w", path, err)
		}
	}
	return nil
}

func (l *loader) file(ctx context.Context, path string) (err error) {
	in, size := l.app.stdin, int64(0)
	if path != "-" {
		f, err := os.Open(path)
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
	plain, _, err := text.Decompress(&counted{in, stage})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, plain.Close()) }()
	r := text.NewReader(plain, l.options)
	err = l.points(ctx, r)
	report := r.Report()
	l.result.Files = append(l.result.Files, loadedFile{path, r.Format().String(), report.Points, report.Skipped})
	l.result.Points += report.Points
	l.result.Bad += report.Skipped
	for _, refused := range report.Refused {
		bad := badPoints{Reason: refused.Reason, Count: refused.Count}
		for _, e := range refused.First {
			bad.First = append(bad.First, fmt.Sprintf("%s:%d: %s", path, e.Line, e.Message()))
		}
		l.result.Refused = append(l.result.Refused, bad)
	}
	return err
}

// counted tells a stage what was read.
type counted struct {
	in    io.Reader
	stage *progress.Stage
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	c.stage.Add(int64(n))
	return n, err
}

func (l *loader) points(ctx context.Context, r *text.Reader) error {
	var refs []names.ID // by Row.Ref, less 1; noID where it is not known
	uncommitted := 0
	for {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("stopped behind %s points, which are stored: %w", humanize.Comma(r.Report().Points), err)
		}
		rows, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		for i := range rows {
			id, ok, err := l.id(r, &refs, i, &rows[i])
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
			if err := l.add(r, i, id, &rows[i]); err != nil {
				return err
			}
		}
		if uncommitted += len(rows); uncommitted >= commitPoints {
			uncommitted = 0
			if err := l.writer.Commit(ctx); err != nil {
				return err
			}
		}
	}
}

func (l *loader) add(r *text.Reader, i int, id names.ID, row *text.Row) error {
	if row.Text == nil {
		return l.writer.Add(id, row.Time, row.Value)
	}
	if len(row.Text) > series.MaxText {
		return r.Refuse(i, "an event that is too long", fmt.Sprintf("%d bytes, at most %d", len(row.Text), series.MaxText))
	}
	return l.writer.AddEvent(id, row.Time, row.Text)
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
	a.note("%s points stored in %.2f s, %s a second", humanize.Comma(r.Points), r.Seconds, humanize.SIWithDigits(float64(r.Points)/max(r.Seconds, 1e-9), 2, ""))
	return nil
}

// verdict is an error if there are more bad lines than are accepted, and there is no other error.
func (l *loader) verdict(err error) error {
	if err != nil || l.skip < 0 || l.result.Bad <= l.skip {
		return nil
	}
	return fmt.Errorf("%s bad lines were left out; --skip-bad accepts %d", humanize.Comma(l.result.Bad), l.skip)
}
