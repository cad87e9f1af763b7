package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"weir/internal/progress"
	"weir/internal/table"
	"weir/series"
	"weir/series/names"
)

// seriesStats is what stats prints as JSON.
type seriesStats struct {
	Series        int            `json:"series"`
	Points        uint64         `json:"points"`
	First         string         `json:"first,omitempty"`
	Last          string         `json:"last,omitempty"`
	KeepLast      bool           `json:"keep_last"`
	Bytes         int64          `json:"bytes"`
	BytesPerPoint float64        `json:"bytes_per_point,omitempty"`
	VolumeBytes   int64          `json:"volume_bytes"`
	NameBytes     int64          `json:"name_bytes"`
	LogBytes      int64          `json:"log_bytes"`
	OtherBytes    int64          `json:"checkpoint_bytes"`
	Volumes       []seriesVolume `json:"volumes"`
}

type seriesVolume struct {
	Path    string `json:"path"`
	Bytes   int64  `json:"bytes"`
	Limit   int64  `json:"limit"`
	Created string `json:"created"`
}

func (a *app) seriesStatsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "stats DIR",
		Short: "Say what is in a store, and what it takes",
		Long:  `Say how many series and points are in a store, from when to when, and how many bytes they take.`,
		Example: `  weir series stats data
  weir series stats data --json`,
		Args: cobra.ExactArgs(1),
	}
	cmd.RunE = a.run(func(ctx context.Context, args []string) error {
		return a.withStore(ctx, args[0], series.Options{}, false, func(st *series.Store) error {
			s, err := st.Stats(ctx)
			if err != nil {
				return err
			}
			return a.printStats(s)
		})
	})
	return cmd
}

func (a *app) printStats(s series.Stats) error {
	at := func(ns int64) string { return time.Unix(0, ns).UTC().Format(time.RFC3339Nano) }
	r := seriesStats{
		Series: s.Series, Points: s.Points, KeepLast: s.KeepLast, Bytes: s.Bytes(),
		VolumeBytes: s.VolumeBytes, NameBytes: s.NameBytes, LogBytes: s.LogBytes, OtherBytes: s.CheckpointBytes, Volumes: []seriesVolume{},
	}
	if s.Points > 0 {
		r.First, r.Last = at(s.First), at(s.Last)
		r.BytesPerPoint = float64(s.Bytes()) / float64(s.Points)
	}
	for _, v := range s.Volumes {
		r.Volumes = append(r.Volumes, seriesVolume{v.Path, v.Used, v.Size, v.Created.UTC().Format(time.RFC3339)})
	}
	if a.json {
		return a.printJSON(r)
	}
	line := func(name, text string, args ...any) {
		fmt.Fprintf(a.stdout, "%-12s%s\n", name, fmt.Sprintf(text, args...))
	}
	line("series", "%s", humanize.Comma(int64(r.Series)))
	line("points", "%s", humanize.Comma(int64(r.Points)))
	if s.Points > 0 {
		line("from", "%s", r.First)
		line("to", "%s", r.Last)
	}
	if s.KeepLast {
		line("keeps", "the last of the points of one time")
	}
	if s.Points > 0 {
		line("bytes", "%s, %.2f a point", humanize.Comma(r.Bytes), r.BytesPerPoint)
	} else {
		line("bytes", "%s", humanize.Comma(r.Bytes))
	}
	fmt.Fprintln(a.stdout)
	t := table.New(table.Left("what"), table.Right("bytes"), table.Right("a point").Decimals(3))
	for _, row := range []struct {
		what  string
		bytes int64
	}{{"volumes", r.VolumeBytes}, {"names", r.NameBytes}, {"log", r.LogBytes}, {"checkpoint", r.OtherBytes}} {
		perPoint := any("")
		if s.Points > 0 {
			perPoint = float64(row.bytes) / float64(s.Points)
		}
		t.Row(row.what, row.bytes, perPoint)
	}
	if err := t.WriteText(a.stdout); err != nil {
		return err
	}
	if len(r.Volumes) == 0 {
		return nil
	}
	fmt.Fprintln(a.stdout)
	t = table.New(table.Left("volume"), table.Right("bytes"), table.Right("of"), table.Left("made"))
	for _, v := range r.Volumes {
		t.Row(filepath.Base(v.Path), v.Bytes, v.Limit, v.Created)
	}
	return t.WriteText(a.stdout)
}

// seriesReport is what verify and restore print as JSON.
type seriesReport struct {
	OK      bool     `json:"ok"`
	Series  uint64   `json:"series"`
	Points  uint64   `json:"points"`
	Nodes   uint64   `json:"nodes"`
	Entries uint64   `json:"log_entries"`
	Damage  []string `json:"damage"`
	Lost    []string `json:"lost"`
	Torn    []string `json:"torn"`
}

func (a *app) seriesVerifyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "verify DIR",
		Short: "Read everything that a store has, and say what is damaged",
		Long: `Read everything that a store has, and say which places of which files are damaged, and which points of
which series were there. Nothing is changed. The exit code is 1 if anything is damaged.`,
		Example: `  weir series verify data`,
		Args:    cobra.ExactArgs(1),
	}
	cmd.RunE = a.run(func(ctx context.Context, args []string) error {
		told, end := stage(ctx, "verify", progress.Items)
		defer end()
		r, err := series.Verify(ctx, args[0], series.VerifyOptions{Progress: told})
		if err != nil {
			return err
		}
		return a.printReport(args[0], r)
	})
	return cmd
}

func (a *app) printReport(dir string, r *series.VerifyReport) error {
	report := seriesReport{r.OK(), r.Series, r.Points, r.Nodes, r.Entries, []string{}, []string{}, []string{}}
	for _, e := range r.Damage {
		report.Damage = append(report.Damage, e.Error())
	}
	for _, l := range r.Lost {
		report.Lost = append(report.Lost, l.String())
	}
	for _, c := range r.Cut {
		report.Torn = append(report.Torn, fmt.Sprintf("%s: %d bytes from byte %d on", c.Path, c.Bytes, c.Offset))
	}
	if a.json {
		if err := a.printJSON(report); err != nil {
			return err
		}
	} else {
		for _, lines := range []struct {
			what string
			all  []string
		}{{"damaged: ", report.Damage}, {"lost: ", report.Lost}, {"torn, and cut off when it is opened: ", report.Torn}} {
			for _, text := range lines.all {
				fmt.Fprintln(a.stdout, lines.what+text)
			}
		}
		fmt.Fprintf(a.stdout, "%s: %s series, %s points in %s nodes, %s entries in the log\n", dir,
			humanize.Comma(int64(r.Series)), humanize.Comma(int64(r.Points)), humanize.Comma(int64(r.Nodes)), humanize.Comma(int64(r.Entries)))
	}
	if !r.OK() {
		return fmt.Errorf("%s is damaged in %s", dir, english.Plural(max(1, len(r.Damage)), "place", ""))
	}
	a.note("no damage")
	return nil
}

func (a *app) seriesBackupCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "backup DIR COPY",
		Short: "Copy a store",
		Long: `Copy a store to another directory. Where that has an earlier copy of the same store, only what has changed
since is copied.`,
		Example: `  weir series backup data copy`,
		Args:    cobra.ExactArgs(2),
	}
	cmd.RunE = a.run(func(ctx context.Context, args []string) error {
		return a.withStore(ctx, args[0], series.Options{}, false, func(st *series.Store) error {
			told, end := stage(ctx, "back up", progress.Bytes)
			bytes := int64(0)
			err := st.Backup(ctx, args[1], func(done, total int64) { told(done, total); bytes = total })
			end()
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(struct {
					Bytes int64 `json:"bytes"`
				}{bytes})
			}
			a.note("%s is a copy of %s, of %s bytes", args[1], args[0], humanize.Comma(bytes))
			return nil
		})
	})
	return cmd
}

func (a *app) seriesRestoreCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "restore COPY DIR",
		Short: "Make a store from a copy, and verify it",
		Long: `Make a store from what "weir series backup" has copied, in a directory that is empty or does not exist, and
verify it. The exit code is 1 if anything is damaged.`,
		Example: `  weir series restore copy restored`,
		Args:    cobra.ExactArgs(2),
	}
	cmd.RunE = a.run(func(ctx context.Context, args []string) error {
		told, end := stage(ctx, "restore", progress.Bytes)
		whole := false
		r, err := series.Restore(ctx, args[0], args[1], func(done, total int64) { told(done, total); whole = done == total })
		end()
		if err != nil {
			switch {
			case !errors.Is(err, context.Canceled):
			case whole:
				a.note("%s is whole, but not verified; \"weir series verify\" does that", args[1])
			default:
				a.note("%s is not whole; remove it before it is restored again", args[1])
			}
			return err
		}
		return a.printReport(args[1], r)
	})
	return cmd
}

func (a *app) seriesDeleteCommand() *cobra.Command {
	var where whereFlag
	cmd := &cobra.Command{
		Use:   "delete DIR",
		Short: "Take away points, or whole series",
		Long: `Take away the points of series from one time to another. Without --from and --to the series go as a whole, with
their names. What there is to select by must be said: --metric, --where, or --all. The space comes back by and by,
or with "weir series compact".`,
		Example: `  weir series delete data --metric cpu --where host=a --to -720h
  weir series delete data --where host=gone`,
		Args: cobra.ExactArgs(1),
	}
	metric := cmd.Flags().String("metric", "", "only series of a `metric`")
	all := cmd.Flags().Bool("all", false, "of all series")
	cmd.Flags().Var(&where, "where", whereHelp)
	span := addTimeSpan(cmd)
	cmd.RunE = a.run(func(ctx context.Context, args []string) error {
		matches, err := where.matches()
		if err != nil {
			return err
		}
		if *metric != "" {
			matches = append(matches, names.Metric(*metric))
		}
		if (len(matches) == 0) != *all {
			return usagef("expected --metric or --where, or --all to take away everything")
		}
		if err := span.check(); err != nil {
			return err
		}
		return a.withStore(ctx, args[0], series.Options{Sync: series.SyncAlways}, false, func(st *series.Store) error {
			what, n := "the points of ", 0
			if span.from.set || span.to.set {
				n, err = st.Delete(ctx, matches, span.from.ns, span.to.ns)
			} else {
				what = ""
				n, err = st.DropSeries(ctx, matches)
			}
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(struct {
					Series int `json:"series"`
				}{n})
			}
			a.note("%s%s series are gone", what, humanize.Comma(int64(n)))
			return nil
		})
	})
	return cmd
}

func (a *app) seriesCompactCommand() *cobra.Command {
	var retention retentionFlag
	cmd := &cobra.Command{
		Use:   "compact DIR",
		Short: "Bring together what late points and deletions have scattered",
		Long: `Write again what late points, deletions and many restarts have scattered, and give back the space of
what was deleted, as far as it is in volumes that are full. A store that is open does so by itself, more lazily.

With --retention points that are too old are taken away first.`,
		Example: `  weir series compact data
  weir series compact data --retention 3650d --retention '30d cpu host=test'`,
		Args: cobra.ExactArgs(1),
	}
	cmd.Flags().Var(&retention, "retention", retentionHelp)
	cmd.RunE = a.run(func(ctx context.Context, args []string) error {
		return a.withStore(ctx, args[0], series.Options{}, false, func(st *series.Store) error {
			if err := retention.retain(ctx, st); err != nil {
				return err
			}
			told, end := stage(ctx, "compact", progress.Items)
			defer end()
			return st.Compact(ctx, told)
		})
	})
	return cmd
}
