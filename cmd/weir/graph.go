package main

import "github.com/spf13/cobra"

func (a *app) graphCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "graph",
		Short: "Rank, search, measure and convert graphs",
		Args:  knownCommand,
		RunE:  showHelp,
	}
	return cmd
}

func hintFor(err error) string { return "" }
