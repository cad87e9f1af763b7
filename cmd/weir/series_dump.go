package main

import (
	"context"
	"math"

	"github.com/spf13/cobra"

	"weir/internal/progress"
	"weir/series"
	"weir/series/names"
	"weir/series/text"
)

func (a *app) seriesDumpCommand() *cobra.Command {
	var where whereFlag
	cmd := &cobra.Command{
		Use:   "dump DIR",
		Short: "Write points as text that load reads",
		Long: `Write the points of a store as text to standard output, series by series, so that "weir series load" makes
the same store of it, to the last bit. RESP has no words for times before 1970 and for empty events, and
neither RESP nor CSV has some for events with line breaks: these are an error.`,
		Example: `  weir series dump data | gzip > data.csv.gz
  weir series dump data --metric cpu --where host=a --from -24h
  weir series dump data --format resp`,
		Args: cobra.ExactArgs(1),
	}
	format := cmd.Flags().String("format", "csv", "`format`: csv or resp")
	metric := cmd.Flags().String("metric", "", "only series of a `metric`")
	cmd.Flags().Var(&where, "where", whereHelp)
	span := addTimeSpan(cmd)
	cmd.RunE = a.run(func(ctx context.Context, args []string) error {
		f, err := text.ParseFormat(*format)
		if err != nil || f != text.CSV && f != text.RESP {
			return usagef("--format: %q; expected csv or resp", *format)
		}
		matches, err := where.matches()
		if err != nil {
			return err
		}
		if *metric != "" {
			matches = append(matches, names.Metric(*metric))
		}
		if err := span.check(); err != nil {
			return err
		}
		return a.withStore(ctx, args[0], series.Options{}, false, func(st *series.Store) error {
			d := dumper{a: a, st: st, format: f, from: span.from.ns, to: span.to.ns}
			return d.run(ctx, matches)
		})
	})
	return cmd
}

// dumper writes series as text.
type dumper struct {
	a        *app
	st       *series.Store
	format   text.Format
	from, to int64

	name, line []byte
	times      [1024]int64
	values     [1024]float64
	texts      [1024]string
}

func (d *dumper) run(ctx context.Context, matches []names.Match) error {
	found, err := d.st.Names().Find(ctx, matches)
	if err != nil {
		return err
	}
	stage := progress.Start(ctx, "dump", int64(found.Len()), progress.Items)
	defer stage.Done()
	if _, err := d.a.stdout.WriteString(text.Header(d.format)); err != nil {
		return err
	}
	for id := range found.All() {
		d.name = d.st.Names().AppendName(d.name[:0], id)
		if len(d.name) == 0 {
			continue // deleted meanwhile
		}
		dump := d.points
		if names.IsEvent(string(d.name)) {
			dump = d.events
		}
		if err := dump(ctx, id); err != nil {
			return err
		}
		stage.Add(1)
	}
	return nil
}

func (d *dumper) points(ctx context.Context, id names.ID) error {
	r, err := d.st.Points(ctx, id, d.from, d.to, false, nil)
	if err != nil {
		return err
	}
	defer r.Close()
	for n := len(d.times); n == len(d.times); {
		if n, err = r.Next(d.times[:], d.values[:]); err != nil {
			return err
		}
		for i := range n {
			if err := d.write(d.times[i], d.values[i], nil); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *dumper) events(ctx context.Context, id names.ID) error {
	r, err := d.st.Events(ctx, id, d.from, d.to, false)
	if err != nil {
		return err
	}
	defer r.Close()
	for n := len(d.times); n == len(d.times); {
		if n, err = r.Next(d.times[:], d.texts[:]); err != nil {
			return err
		}
		for i := range n {
			if err := d.write(d.times[i], math.NaN(), append([]byte{}, d.texts[i]...)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *dumper) write(t int64, v float64, event []byte) (err error) {
	if d.line, err = text.Append(d.line[:0], d.format, d.name, t, v, event); err != nil {
		return err
	}
	_, err = d.a.stdout.Write(d.line)
	return err
}
