package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"weir/graph/store"
)

// verifyResult is the result of the command as JSON.
type verifyResult struct {
	File    string   `json:"file"`
	Bytes   int64    `json:"bytes"`
	Sound   bool     `json:"sound"`
	Damage  []string `json:"damage"`
	Seconds float64  `json:"seconds"`
}

func (a *app) verifyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "verify FILE...",
		Short: "Check every byte of weir's own graph files",
		Long: `Check every byte of graph files that "weir graph convert" or "weir graph generate"
wrote against their checksums, and name what is damaged. The exit code is 1 if
anything is.`,
		Example: "  weir graph verify web.weir",
		Args:    cobra.MinimumNArgs(1),
		RunE: a.run(func(ctx context.Context, args []string) error {
			results := []verifyResult{}
			var errs []error
			for _, path := range args {
				r, err := a.verify(ctx, path)
				if ctx.Err() != nil {
					return err
				}
				if err != nil {
					errs = append(errs, err)
				}
				if r != nil {
					results = append(results, *r)
				}
			}
			if a.json {
				errs = append(errs, a.printJSON(results))
			}
			return errors.Join(errs...)
		}),
	}
}

// verify checks one file. The result is nil where the file is no graph at all.
func (a *app) verify(ctx context.Context, path string) (*verifyResult, error) {
	f, err := store.Open(path)
	if damage, ok := errors.AsType[*store.DamageError](err); ok {
		return damaged(&verifyResult{File: path}, damage), err
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	begin := time.Now()
	err = f.Verify(ctx, a.threads)
	r := &verifyResult{File: path, Bytes: f.Size(), Sound: err == nil, Damage: []string{}, Seconds: time.Since(begin).Seconds()}
	if damage, ok := errors.AsType[*store.DamageError](err); ok {
		return damaged(r, damage), err
	}
	if err != nil {
		return nil, err
	}
	if !a.json {
		fmt.Fprintf(a.stdout, "%s: %s, sound (%s, %.0f MB/s)\n", path, humanize.IBytes(uint64(r.Bytes)),
			formatSeconds(r.Seconds), float64(r.Bytes)/1e6/r.Seconds)
	}
	return r, nil
}

func damaged(r *verifyResult, err *store.DamageError) *verifyResult {
	for _, d := range err.Damage {
		r.Damage = append(r.Damage, d.String())
	}
	return r
}
