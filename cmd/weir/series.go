package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"weir/internal/progress"
	"weir/series"
	"weir/series/names"
	queryformat "weir/series/query/format"
)

const seriesHelp = `Store series of measurements in a directory, ask for them, and draw them. No server is needed; one command at
a time has the directory open.

  weir series load data cpu.csv.gz                           store points
  weir series query data --aggregate cpu --func max          ask a question
  weir series chart data --metric cpu                        draw series in the terminal
  weir series stats data                                     what is in it, and what it takes

A series has a name, which is a metric and tags, "cpu dc=x host=a", and points, each a time and a number. A
series whose metric begins with ! has events: texts in the place of numbers.`

func (a *app) seriesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "series",
		Short: "Store series of measurements, and ask for them",
		Long:  seriesHelp,
		Args:  knownCommand,
		RunE:  showHelp,
	}
	cmd.AddCommand(
		a.seriesLoadCommand(), a.seriesQueryCommand(), a.seriesDumpCommand(), a.seriesStatsCommand(), a.seriesVerifyCommand(),
		a.seriesBackupCommand(), a.seriesRestoreCommand(), a.seriesDeleteCommand(), a.seriesCompactCommand(), a.seriesChartCommand(), a.seriesBenchCommand(),
	)
	return cmd
}

// withStore opens the store of a directory for do. Unless it may be made, there must be one. What is found damaged is
// said, and does not keep anybody from what is not.
func (a *app) withStore(ctx context.Context, dir string, o series.Options, create bool, do func(*series.Store) error) (err error) {
	if !create && !series.Exists(dir) {
		return fmt.Errorf("%s: %w; \"weir series load\" makes one", dir, series.ErrNotStore)
	}
	if o.Memory == 0 {
		o.Memory = int64(a.memory)
	}
	o.OnProblem = func(err error) { fmt.Fprintf(a.stderr, "weir: %v\n", err) }
	st, err := series.Open(ctx, dir, o)
	if err != nil {
		return err
	}
	defer func() {
		e := st.Close()
		if err == nil && !create && errors.Is(e, series.ErrFull) {
			a.note("%v\nit stays in the log, which is read again", e)
			return // what was asked for is done
		}
		err = errors.Join(err, e)
	}()
	r := st.Recovery()
	if r.Entries > 0 {
		a.note("read %d points again from the log, since the store was not closed", r.Entries)
	}
	for _, c := range r.Cut {
		a.note("cut %d bytes off %s, which were being written when the machine stopped", c.Bytes, c.Path)
	}
	for _, e := range r.Damage {
		fmt.Fprintf(a.stderr, "weir: %v\n", e)
	}
	return do(st)
}

// stage shows how far along something is, told by a function of what is done and what there is.
func stage(ctx context.Context, name string, unit progress.Unit) (told func(done, total int64), end func()) {
	var s *progress.Stage
	last := int64(0)
	return func(done, total int64) {
			if s == nil {
				s = progress.Start(ctx, name, total, unit)
			}
			s.Add(done - last)
			last = done
		}, func() {
			s.Done()
		}
}

// whereFlag is conditions on tags: host=a,b and host!=a and host^=web and host=~expr; host alone is that there is one.
type whereFlag []string

func (w *whereFlag) String() string     { return strings.Join(*w, " ") }
func (w *whereFlag) Type() string       { return "condition" }
func (w *whereFlag) Set(s string) error { *w = append(*w, s); _, err := parseWhere(s); return err }

func (w *whereFlag) matches() (all []names.Match, err error) {
	for _, s := range *w {
		m, err := parseWhere(s)
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

const whereHelp = "only series of which a `condition` is true: host=a,b or host!=a or host^=web or host=~'w.*' or host (may be repeated)"

func parseWhere(s string) (names.Match, error) {
	key, rest := s, ""
	if i := strings.IndexAny(s, "=!^"); i >= 0 {
		key, rest = s[:i], s[i:]
	}
	bad := fmt.Errorf("%q; expected tag=value, tag=a,b, tag!=value, tag^=prefix, tag=~expression or tag", s)
	if key == "" {
		return names.Match{}, bad
	}
	switch {
	case rest == "":
		return names.Has(key), nil
	case strings.HasPrefix(rest, "=~"):
		return names.TagRegexp(key, rest[2:])
	case strings.HasPrefix(rest, "!~"):
		m, err := names.TagRegexp(key, rest[2:])
		return m.Not(), err
	case strings.HasPrefix(rest, "!="):
		return names.Tag(key, strings.Split(rest[2:], ",")...).Not(), nil
	case strings.HasPrefix(rest, "^="):
		return names.TagPrefix(key, rest[2:]), nil
	case rest[0] == '=':
		return names.Tag(key, strings.Split(rest[1:], ",")...), nil
	}
	return names.Match{}, bad
}

// timeFlag is a time: RFC 3339, 20170102T030405, 2017-01-02, a number since 1970, or how long ago: -24h.
type timeFlag struct {
	ns  int64
	set bool
}

const timeForms = "2017-01-02T03:04:05Z, 20170102T030405, 2017-01-02, s, ms, us or ns since 1970 (by the size of the number, as in CSV), or -24h for so long ago"

func (t *timeFlag) String() string {
	if !t.set {
		return ""
	}
	return time.Unix(0, t.ns).UTC().Format(time.RFC3339Nano)
}

func (t *timeFlag) Type() string { return "time" }

func (t *timeFlag) Set(s string) error {
	t.set = true
	if rest, ok := strings.CutPrefix(s, "-"); ok || s == "now" {
		ago := int64(0)
		if ok {
			if ago, ok = queryformat.ParseDuration(rest); !ok {
				return fmt.Errorf("expected how long ago, such as -24h or -90s")
			}
		}
		t.ns = time.Now().UnixNano() - ago
		return nil
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		unit := sinceUnit(n)
		if n > math.MaxInt64/unit {
			return fmt.Errorf("it is behind the year 2261; expected %s", timeForms)
		}
		t.ns = n * unit
		return nil
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02"} {
		if at, err := time.Parse(layout, s); err == nil {
			if y := at.Year(); y < 1678 || y > 2261 {
				return fmt.Errorf("the year %d; expected one of 1678 to 2261", y)
			}
			t.ns = at.UnixNano()
			return nil
		}
	}
	ns, err := queryformat.ParseTime(s)
	if err != nil {
		return fmt.Errorf("expected %s", timeForms)
	}
	t.ns = ns
	return nil
}

// sinceUnit is the unit of a number since 1970, in ns, by its size: see text.CSV.
func sinceUnit(n int64) int64 {
	switch {
	case n < 1e11:
		return 1e9
	case n < 1e14:
		return 1e6
	case n < 1e17:
		return 1e3
	}
	return 1
}

// timeSpan are the range of times of a command.
type timeSpan struct{ from, to timeFlag }

func addTimeSpan(cmd *cobra.Command) *timeSpan {
	f := &timeSpan{timeFlag{ns: math.MinInt64}, timeFlag{ns: math.MaxInt64}}
	cmd.Flags().Var(&f.from, "from", "first `time`: "+timeForms)
	cmd.Flags().Var(&f.to, "to", "last `time`, included")
	return f
}

// check refuses a range that ends before it begins.
func (f *timeSpan) check() error {
	if f.from.ns > f.to.ns {
		return usagef("--from %s is behind --to %s", f.from.String(), f.to.String())
	}
	return nil
}
