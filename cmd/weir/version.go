package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// buildInfo says what a binary was built from.
type buildInfo struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"` // of the source, where it was known
	Time     string `json:"time,omitempty"`     // of that revision
	Modified bool   `json:"modified"`           // whether the source differed from it
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func readBuildInfo() buildInfo {
	b := buildInfo{Version: "(unknown)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	b.Version = info.Main.Version
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		case "GOAMD64", "GOARM64":
			b.Platform += " " + s.Value
		}
	}
	return b
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print what this binary was built from",
		Example: "  weir version\n  weir version --json",
		Args:    cobra.NoArgs,
		RunE: a.run(func(context.Context, []string) error {
			b := readBuildInfo()
			if a.json {
				return a.printJSON(b)
			}
			fmt.Fprintf(a.stdout, "weir %s\n", b.Version)
			if b.Revision != "" {
				state := ""
				if b.Modified {
					state = ", modified"
				}
				fmt.Fprintf(a.stdout, "  source    %s (%s%s)\n", b.Revision, b.Time, state)
			}
			fmt.Fprintf(a.stdout, "  compiler  %s\n  platform  %s\n", b.Go, b.Platform)
			return nil
		}),
	}
}
