// Package program is how a program of one command begins and ends: interrupts end its context, and the exit
// code tells a mistake in the arguments from a failure.
package program

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// Exit codes, those of weir.
const (
	OK     = 0
	Failed = 1
	Usage  = 2
)

// Main runs execute with the arguments of the process, and exits with the code that it returns. Its context
// is done at the first interrupt; a second ends the process at once.
func Main(execute func(ctx context.Context, args []string, stdout, stderr io.Writer) int) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	go func() {
		<-ctx.Done()
		stop()
	}()
	os.Exit(execute(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// Execute runs a command, which says in started when its arguments have turned out to be right, and
// returns the exit code.
func Execute(ctx context.Context, cmd *cobra.Command, started *bool, args []string, stdout, stderr io.Writer) int {
	cmd.Args = cobra.NoArgs
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.CompletionOptions.DisableDefaultCmd = true
	cmd.SetArgs(args)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	if err := cmd.ExecuteContext(ctx); err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", cmd.Name(), err)
		if !*started {
			return Usage
		}
		return Failed
	}
	return OK
}

// SetDefaults sets the flags that were not given to other values than they have by default.
func SetDefaults(cmd *cobra.Command, values map[string]string) error {
	for name, value := range values {
		if !cmd.Flags().Changed(name) {
			if err := cmd.Flags().Set(name, value); err != nil {
				return err
			}
		}
	}
	return nil
}

// Repository is the folder of the weir module, the current one or one above it.
func Repository() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && strings.HasPrefix(string(text), "module weir\n") {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("%s is not in the weir repository: no go.mod of module weir in it or above", start)
		}
	}
}
