package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

func (a *app) manpageCommand() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:     "manpage",
		Short:   "Write the manual pages of all commands",
		Example: "  weir manpage -d /usr/local/share/man/man1",
		Args:    cobra.NoArgs,
		Hidden:  true,
	}
	cmd.Flags().StringVarP(&dir, "dir", "d", ".", "`folder` to write to, made if need be")
	cmd.RunE = a.run(func(context.Context, []string) error {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return fmt.Errorf("write manual pages: %w", err)
		}
		if err := doc.GenManTree(cmd.Root(), &doc.GenManHeader{Title: "WEIR", Section: "1", Source: "weir"}, dir); err != nil {
			return fmt.Errorf("write manual pages: %w", err)
		}
		return nil
	})
	return cmd
}
