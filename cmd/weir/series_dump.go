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
the same store of it, to the last bit. What a format has no words for is an error: in RESP times before 1970 and
empty events, in RESP and CSV events with line breaks, and in the Influx line protocol NaN, infinite numbers, and
names with backslashes or empty values.`,
		Example: `  weir series dump data | gzip > data.csv.gz
  weir series dump data --metric cpu --where host=a --from -24h
  weir series dump data --format influx`,
		Args: cobra.ExactArgs(1),
	}
	format := choose(word[text.Format]{"csv", text.CSV}, word[text.Format]{"resp", text.RESP}, word[text.Format]{"influx", text.Influx})
	addChoice(cmd, format, "format", "format of the text")
	metric := cmd.Flags().String("metric", "", "only series of a `metric`")
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
		if err := span.check(); err != nil {
			return err
		}
		return a.withStore(ctx, args[0], series.Options{}, false, func(st *series.Store) error {
			d := dumper{a: a, st: st, format: format.value, from: span.from.ns, to: span.to.ns}
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

	stage      *progress.Stage
	influx     influxLines
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
	if d.a.display() != nil && !d.a.onTerminal() { // a bar would be among the points
		total, err := d.count(ctx, found)
		if err != nil {
			return err
		}
		d.stage = progress.Start(ctx, "dump", total, progress.Items)
		defer d.stage.Done()
	}
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
	}
	return nil
}

// count is how many points there are.
func (d *dumper) count(ctx context.Context, found *names.Set) (total int64, err error) {
	for id := range found.All() {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		sum, err := d.st.Aggregate(ctx, id, d.from, d.to)
		if err != nil {
			return 0, err
		}
		total += int64(sum.Count)
	}
	return total, nil
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
		d.stage.Add(int64(n))
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
		d.stage.Add(int64(n))
		for i := range n {
			if err := d.write(d.times[i], math.NaN(), append([]byte{}, d.texts[i]...)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *dumper) write(t int64, v float64, event []byte) (err error) {
	if d.format == text.Influx {
		d.line, err = d.influx.append(d.line[:0], d.name, t, v, event)
	} else {
		d.line, err = text.Append(d.line[:0], d.format, d.name, t, v, event)
	}
	if err != nil {
		return err
	}
	_, err = d.a.stdout.Write(d.line)
	return err
}
