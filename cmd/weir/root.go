package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"weir/internal/progress"
)

// Exit codes, as the help of the root command tells them.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// maxThreads is far above what any machine can use and far below what exhausts
// its memory.
const maxThreads = 4096

// app is what all subcommands share: where to read and write, and the flags of
// the root.
type app struct {
	stdin  io.Reader
	stdout *bufio.Writer
	out    io.Writer // what stdout writes to
	stderr io.Writer

	json    bool
	quiet   bool
	memory  byteSize
	threads int

	cpuProfile, memProfile string

	started bool // whether a command ran, so that an error is not one of usage
}

// usageError is an error of how a command was called, found after its flags
// were parsed.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// run executes weir with the given arguments and returns its exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := &app{stdin: stdin, stdout: bufio.NewWriterSize(stdout, 1<<16), out: stdout, stderr: stderr}
	ctx, stop := a.watchSignals(context.Background())
	defer stop()
	root := a.rootCommand()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(a.stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	if flushErr := a.stdout.Flush(); err == nil && flushErr != nil {
		err = fmt.Errorf("write standard output: %w", flushErr)
	}
	return a.report(ctx, cmd, err)
}

// report prints err, if there is one, once, and returns the exit code for it.
func (a *app) report(ctx context.Context, cmd *cobra.Command, err error) int {
	var usage usageError
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, syscall.EPIPE):
		return exitOK // the reader has what it wanted, as in "weir … | head"
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		fmt.Fprintln(a.stderr, "weir: interrupted")
		return exitInterrupted
	case !a.started || errors.As(err, &usage):
		fmt.Fprintf(a.stderr, "weir: %v\nRun '%s --help' for usage.\n", err, cmd.CommandPath())
		return exitUsage
	}
	fmt.Fprintf(a.stderr, "weir: %v\n", err)
	if hint := hintFor(err); hint != "" {
		fmt.Fprintf(a.stderr, "hint: %s\n", hint)
	}
	return exitFailed
}

func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "weir",
		Short: "Answers on graphs and on series of measurements, fast, on one machine",
		Long: `weir computes answers on graphs and on series of measurements, fast, on one machine.

  weir graph pagerank edges.csv.gz --top 10     rank the vertices of your own edge list
  weir graph --help                             all that can be done with a graph
  weir live --help                              answers that follow a graph while it changes
  weir series --help                            series of measurements: store them, ask for them, draw them

Results go to standard output, everything else to standard error. The exit code
is 0 for success, 1 for failure, 2 for a wrong call, 130 when interrupted.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          knownCommand,
		RunE:          showHelp,
	}
	flags := root.PersistentFlags()
	flags.BoolVar(&a.json, "json", false, "print the result as JSON")
	flags.BoolVarP(&a.quiet, "quiet", "q", false, "print no progress and no summary")
	flags.Var(&a.memory, "memory", "most memory to use, a `size` such as 2GiB")
	flags.IntVar(&a.threads, "threads", 0, "use `n` threads (default all processors)")
	flags.StringVar(&a.cpuProfile, "cpuprofile", "", "write a processor profile to `file`")
	flags.StringVar(&a.memProfile, "memprofile", "", "write a memory profile to `file`")
	for _, name := range []string{"cpuprofile", "memprofile"} {
		_ = flags.MarkHidden(name) // the flag was defined above
	}
	root.AddCommand(a.graphCommand(), a.distributedPagerankCommand(), a.liveCommand(), a.seriesCommand(), a.versionCommand(), a.manpageCommand())
	root.InitDefaultHelpCmd()
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return plainFlagError(err) })
	return root
}

// plainFlagError says what is wrong with a number without the function that read it.
func plainFlagError(err error) error {
	e, ok := errors.AsType[*strconv.NumError](err)
	if !ok {
		return err
	}
	expected := "expected a whole number"
	switch {
	case errors.Is(e, strconv.ErrRange):
		expected = "it is out of range"
	case e.Func == "ParseFloat":
		expected = "expected a number"
	}
	return errors.New(strings.Replace(err.Error(), e.Error(), expected, 1))
}

// knownCommand refuses arguments of a command that only groups others.
func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	err := fmt.Errorf("unknown command %q for %q", args[0], cmd.CommandPath())
	if cmd.SuggestionsMinimumDistance == 0 {
		cmd.SuggestionsMinimumDistance = 2
	}
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		err = fmt.Errorf("%w; did you mean %s?", err, strings.Join(near, " or "))
	}
	return err
}

func showHelp(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// run wraps what a command does: it checks the flags of the root, starts and ends
// profiles, and lets the command's context carry the display of its progress.
func (a *app) run(f func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) (err error) {
		if a.threads < 0 || a.threads > maxThreads {
			return fmt.Errorf("--threads is %d, expected 0 (all processors) to %d", a.threads, maxThreads)
		}
		a.started = true
		stopProfiles, err := a.startProfiles()
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, stopProfiles()) }()
		ctx := cmd.Context()
		if d := a.display(); d != nil {
			defer d.close()
			ctx = progress.With(ctx, d)
		}
		return f(ctx, args)
	}
}

// startProfiles begins the profiles that were asked for; the function that it
// returns writes them.
func (a *app) startProfiles() (stop func() error, err error) {
	var cpu *os.File
	if a.cpuProfile != "" {
		if cpu, err = os.Create(a.cpuProfile); err != nil {
			return nil, fmt.Errorf("--cpuprofile: %w", err)
		}
		if err := pprof.StartCPUProfile(cpu); err != nil {
			return nil, fmt.Errorf("--cpuprofile: %w", err)
		}
	}
	return func() error {
		var errs []error
		if cpu != nil {
			pprof.StopCPUProfile()
			errs = append(errs, cpu.Close())
		}
		if a.memProfile != "" {
			runtime.GC() // so that the profile shows what is live
			file, err := os.Create(a.memProfile)
			if err != nil {
				return errors.Join(append(errs, fmt.Errorf("--memprofile: %w", err))...)
			}
			errs = append(errs, pprof.WriteHeapProfile(file), file.Close())
		}
		return errors.Join(errs...)
	}, nil
}

// printJSON writes v as indented JSON to standard output.
func (a *app) printJSON(v any) error {
	e := json.NewEncoder(a.stdout)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// note prints a line of the summary to standard error unless --quiet is set.
func (a *app) note(format string, args ...any) {
	if !a.quiet {
		fmt.Fprintf(a.stderr, format+"\n", args...)
	}
}
