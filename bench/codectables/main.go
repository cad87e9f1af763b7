// Codectables measures how well and how fast the codecs of the series compress values of
// generated kinds, recorded series and times, beside the schemes that were published. It prints tables, and writes
// docs/results/codecs.md with its plot.
//
//	go run ./bench/codectables --quick
package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"weir/internal/program"
	"weir/internal/report"
	"weir/internal/sharedata"
)

// options are the flags.
type options struct {
	length      time.Duration // of a measurement
	repetitions int
	values      int
	data, out   string
}

func main() { program.Main(execute) }

func execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	started := false
	return program.Execute(ctx, command(args, &started), &started, args, stdout, stderr)
}

// command says in started whether arguments were all right.
func command(args []string, started *bool) *cobra.Command {
	var opt options
	var quick bool
	cmd := &cobra.Command{
		Use:   "codectables",
		Short: "Measure the codecs of the series",
		Long: `Measure the codecs of the series: bits a value, and values a second on one core, of
generated kinds and of recorded series, beside the schemes that were published.
Recorded series are those of a folder with elf/*.csv (a value a line), nab/*.csv (a
time and a value a line) and host.tar.gz.`,
		Example: `  go run ./bench/codectables --quick
  go run ./bench/codectables --data recorded/series --for 100ms --repetitions 5`,
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.DurationVar(&opt.length, "for", 50*time.Millisecond, "each measurement takes about so `long`")
	flags.IntVar(&opt.repetitions, "repetitions", 3, "measure everything `n` times, in turns")
	flags.IntVar(&opt.values, "values", 100*1024, "`n` values of each generated kind")
	flags.StringVar(&opt.data, "data", "", "`folder` of recorded series (default series in $"+sharedata.Variable+", if that is set)")
	flags.StringVar(&opt.out, "out", "", "write the report to `folder` (default docs/results)")
	flags.BoolVar(&quick, "quick", false, "short measurements, once: to see that all works")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if quick {
			if err := program.SetDefaults(cmd, map[string]string{"for": "1ms", "repetitions": "1", "values": "5120"}); err != nil {
				return err
			}
		}
		if opt.length <= 0 || opt.repetitions < 1 || opt.values < 1 {
			return errors.New("--for, --repetitions and --values are expected to be more than 0")
		}
		root, err := program.Repository()
		if err != nil {
			return err
		}
		if opt.out == "" {
			opt.out = filepath.Join(root, "docs", "results")
		}
		if shared := os.Getenv(sharedata.Variable); opt.data == "" && shared != "" {
			opt.data = filepath.Join(shared, "series")
		}
		*started = true
		return run(cmd.Context(), opt, report.Describe(root, report.CommandLine("go run ./bench/codectables", args)), cmd.OutOrStdout())
	}
	return cmd
}
