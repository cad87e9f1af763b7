package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"weir/internal/progress"
	"weir/series"
	"weir/series/names"
	"weir/series/query/format"
)

const seriesHelp = `Store time series in a directory, and ask for them: points of numbers and of texts (events) under
names with tags, such as "cpu host=a dc=x", compressed, and summed up so that an aggregate of years
takes milliseconds. It needs no server; one program at a time may have the directory open.

  weir series load data points.csv.gz
  weir series query data --group-aggregate cpu --func mean --step 1h --where host=a,b
  weir series chart data --metric cpu --where host=a

Times are given as 2024-03-01T12:00:00Z, as 2024-03-01, as 20240301T120000, as nanoseconds since 1970, as "now", or as
how long ago: -24h, -7d. A range has its --from and ends before its --to.

Series are chosen by --where, which may come several times, and then all of them must be met:
host=a,b (one of these), host!=a,b (none of these), host^=web (begins so), host=~web.* (an
expression matches the whole), host (has the tag), !host (has not). A comma in a value is written \,`

func (a *app) seriesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "series",
		Short: "Store time series, and ask for them",
		Long:  seriesHelp,
		Args:  knownCommand,
		RunE:  showHelp,
	}
	cmd.AddCommand(a.seriesLoadCommand(), a.seriesQueryCommand(), a.seriesChartCommand(), a.seriesDumpCommand(), a.seriesStatsCommand(),
		a.seriesDeleteCommand(), a.seriesCompactCommand(), a.seriesVerifyCommand(), a.seriesBackupCommand(), a.seriesRestoreCommand(),
		a.seriesBenchCommand())
	return cmd
}

// openSeries opens the store in a directory, which must be there, and says what was found that its owner should know.
func (a *app) openSeries(ctx context.Context, dir string, o series.Options) (*series.Store, error) {
	if _, err := os.Stat(dir); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("there is no such directory; \"weir series load\" makes one")
		}
		return nil, fmt.Errorf("open store %s: %w", dir, err)
	}
	if entries, err := os.ReadDir(dir); err == nil && len(entries) == 0 {
		return nil, fmt.Errorf("open store %s: %w: it is empty", dir, series.ErrNotStore)
	}
	return a.makeSeries(ctx, dir, o)
}

// makeSeries opens the store in a directory, which need not be there.
func (a *app) makeSeries(ctx context.Context, dir string, o series.Options) (*series.Store, error) {
	o.Memory = int64(a.memory)
	o.OnProblem = func(err error) { fmt.Fprintf(a.stderr, "weir: %s: %v\n", dir, err) }
	stage := progress.Start(ctx, "open", 0, progress.Items)
	st, err := series.Open(ctx, dir, o)
	stage.Done()
	if err != nil {
		return nil, err
	}
	r := st.Recovery()
	for _, cut := range r.Cut {
		a.note("%s: %d bytes behind byte %d were not whole, and had never been durable: cut off", cut.Path, cut.Bytes, cut.Offset)
	}
	for i, damage := range r.Damage {
		if i == shownDamage {
			fmt.Fprintf(a.stderr, "weir: and %d more places; \"weir series verify\" names what they held\n", len(r.Damage)-i)
			break
		}
		fmt.Fprintf(a.stderr, "weir: %v\n", damage)
	}
	if r.Entries > 0 {
		a.note("%s had not been closed: %s read from its log (%s)", dir, plural(int(r.Entries), "point"), formatSeconds(r.Took.Seconds()))
	}
	return st, nil
}

// shownDamage is how many damaged places are shown by commands that do not look for them.
const shownDamage = 5

// counter shows how far a work of steps of which the owner is told is, on the display of ctx.
func counter(ctx context.Context, name string, unit progress.Unit) (tell func(done, total int64), end func()) {
	var stage *progress.Stage
	return func(done, total int64) {
		if stage == nil {
			stage = progress.Start(ctx, name, total, unit)
		}
		stage.Add(done - stage.Current())
	}, func() { stage.Done() }
}

// rangeFlags choose a range of times.
type rangeFlags struct{ from, to string }

func addRangeFlags(cmd *cobra.Command) *rangeFlags {
	r := &rangeFlags{}
	cmd.Flags().StringVar(&r.from, "from", "", "the first `time`, such as 2024-03-01T12:00:00Z, 2024-03-01 or -24h")
	cmd.Flags().StringVar(&r.to, "to", "", "the `time` before which it ends")
	return r
}

func (r *rangeFlags) given() bool { return r.from != "" || r.to != "" }

// times is the range, both ends included; without flags it is all there is.
func (r *rangeFlags) times() (from, to int64, err error) {
	from, to = math.MinInt64, math.MaxInt64
	if r.from != "" {
		if from, err = parseMoment(r.from, time.Now()); err != nil {
			return 0, 0, usagef("--from: %w", err)
		}
	}
	if r.to != "" {
		if to, err = parseMoment(r.to, time.Now()); err != nil {
			return 0, 0, usagef("--to: %w", err)
		}
		if to == math.MinInt64 || to-1 < from {
			return 0, 0, usagef("the range from %s to %s has no time in it", r.from, r.to)
		}
		to--
	}
	return from, to, nil
}

// parseMoment reads a time in nanoseconds since 1970.
func parseMoment(s string, now time.Time) (int64, error) {
	if s == "now" {
		return now.UnixNano(), nil
	}
	if ago, ok := strings.CutPrefix(s, "-"); ok && ago != "" {
		if last := ago[len(ago)-1]; last < '0' || last > '9' {
			if d, ok := format.ParseDuration(ago); ok {
				return now.UnixNano() - d, nil
			}
		}
	}
	if ns, err := strconv.ParseInt(s, 10, 64); err == nil && len(s) != len("20240301") {
		return ns, nil
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999", "2006-01-02T15:04", time.DateOnly, "20060102T150405.999999999", "20060102T150405", "20060102"} {
		if t, err := time.Parse(layout, s); err == nil {
			if ns := t.UnixNano(); time.Unix(0, ns).Equal(t) {
				return ns, nil
			}
			return 0, fmt.Errorf("%s is out of range, expected 1678 to 2261", s)
		}
	}
	return 0, fmt.Errorf("%q is no time, expected one such as 2024-03-01T12:00:00Z, 2024-03-01, 20240301T120000, -24h, now, or nanoseconds since 1970", s)
}

// whereFlags choose series.
type whereFlags struct {
	metrics []string
	where   []string
}

// addWhereFlags defines --where, and --metric where the command does not name the metric elsewhere.
func addWhereFlags(cmd *cobra.Command, metric bool) *whereFlags {
	w := &whereFlags{}
	if metric {
		cmd.Flags().StringSliceVar(&w.metrics, "metric", nil, "only series of these `metrics`")
	}
	cmd.Flags().StringArrayVar(&w.where, "where", nil, "only series whose tags meet a `condition` such as host=a,b, host!=a, host^=web, host=~w.*, host, !host")
	return w
}

func (w *whereFlags) given() bool { return len(w.metrics) > 0 || len(w.where) > 0 }

func (w *whereFlags) matches() ([]names.Match, error) {
	var all []names.Match
	if len(w.metrics) > 0 {
		all = append(all, names.Metric(w.metrics...))
	}
	for _, s := range w.where {
		m, err := parseWhere(s)
		if err != nil {
			return nil, usagef("--where %q: %w", s, err)
		}
		all = append(all, m)
	}
	return all, nil
}

// parseWhere reads a condition on a tag.
func parseWhere(s string) (names.Match, error) {
	at := strings.IndexAny(s, "=!^")
	if at == 0 && s[0] == '!' && !strings.ContainsAny(s[1:], "=!^ ") && len(s) > 1 {
		return names.Has(s[1:]).Not(), nil
	}
	if at < 0 && s != "" && !strings.ContainsAny(s, " ") {
		return names.Has(s), nil
	}
	if at <= 0 {
		return names.Match{}, errors.New("expected a condition such as host=a,b, host!=a, host^=web, host=~w.*, host or !host")
	}
	key, rest := s[:at], s[at:]
	for _, op := range []string{"!=~", "!~", "!^=", "!=", "=~", "^=", "="} {
		value, ok := strings.CutPrefix(rest, op)
		if !ok {
			continue
		}
		var m names.Match
		switch strings.TrimPrefix(op, "!") {
		case "=~", "~":
			var err error
			if m, err = names.TagRegexp(key, value); err != nil {
				return m, err
			}
		case "^=":
			m = names.TagPrefix(key, value)
		default:
			m = names.Tag(key, splitValues(value)...)
		}
		if op[0] == '!' {
			m = m.Not()
		}
		return m, nil
	}
	return names.Match{}, errors.New("expected one of = != ^= !^= =~ !~ behind the tag")
}

// splitValues divides a list at its commas, of which those behind a backslash belong to a value.
func splitValues(s string) []string {
	var all []string
	var value strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && s[i+1] == ',':
			value.WriteByte(',')
			i++
		case s[i] == ',':
			all = append(all, value.String())
			value.Reset()
		default:
			value.WriteByte(s[i])
		}
	}
	return append(all, value.String())
}

// formatMoment prints a time.
func formatMoment(ns int64) string { return time.Unix(0, ns).UTC().Format(time.RFC3339Nano) }

// base is how a file is called in what is shown.
func base(path string) string {
	if path == "-" {
		return "standard input"
	}
	return filepath.Base(path)
}
