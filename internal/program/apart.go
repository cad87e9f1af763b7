package program

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// patience is how long a process that was interrupted may take to end.
const patience = 5 * time.Second

// Part is a hidden command: what a process does that the program starts, with a task that it is given as an
// argument. It says in started that the task could be read.
func Part[T any](name string, started *bool, run func(ctx context.Context, task T, stdout io.Writer) error) *cobra.Command {
	return &cobra.Command{
		Use: name + " TASK", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			*started = true
			var task T
			if err := json.Unmarshal([]byte(args[0]), &task); err != nil {
				return fmt.Errorf("read task %s: %w", args[0], err)
			}
			return run(cmd.Context(), task, cmd.OutOrStdout())
		},
	}
}

// Self is the command line of a [Part] of this program.
func Self(part string, task any) (path string, args []string, err error) {
	text, err := json.Marshal(task)
	if err != nil {
		return "", nil, err
	}
	path, err = os.Executable()
	return path, []string{part, string(text)}, err
}

// Apart does a [Part] in a process of its own, so that no heap or scheduler has seen another task. It reads what the process prints
// into result, and returns the processor time that it used.
func Apart(ctx context.Context, part string, task, result any) (used time.Duration, err error) {
	path, args, err := Self(part, task)
	if err != nil {
		return 0, err
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = patience
	if err := cmd.Run(); err != nil {
		return 0, errors.Join(context.Cause(ctx), fmt.Errorf("%w: %s", err, strings.TrimSpace(stderr.String())))
	}
	used = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if err := json.Unmarshal(stdout.Bytes(), result); err != nil {
		return used, fmt.Errorf("read %q: %w", stdout.String(), err)
	}
	return used, nil
}
