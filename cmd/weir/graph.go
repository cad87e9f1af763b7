package main

import "github.com/spf13/cobra"

const graphHelp = `Rank, search, measure and convert graphs: any file of edges, on one machine.

Rank the vertices of your own edge list, in one command:

  weir graph pagerank edges.csv.gz --top 10

GRAPH may be an edge list with one edge a line, "source target" or
"source,target,weight", plain or compressed by gzip or zstd; what separates its
columns, whether it has a header, comments or weights, and whether its ids are
numbers or strings is found out by looking. It may also be a MatrixMarket, METIS or
DIMACS file, a binary graph of the GAP or COST programs, or weir's own file. "-" is
standard input.

Are the vertices not in the first two columns? Say where:

  weir graph pagerank routes.csv --columns 3,5 --top 10

Is each edge there only once but meant in both directions? Add --undirected.
Are some lines broken? They are named; --skip-bad 10 goes on past up to ten.
Do you have names for the ids? Show them beside:

  weir graph pagerank routes.csv --columns 3,5 --labels airports.csv:5,2 --top 10

Results go to standard output: as a table of the first 20 on a terminal, else as
CSV of all vertices, with the ids of your file. Or to a file, in the format of its
name:

  weir graph pagerank edges.csv.gz --output ranks.csv.gz
  weir graph pagerank edges.csv.gz --json --top 3
  weir graph pagerank edges.csv.gz --output ranks.bin --ids-output ids.txt

A .bin file is a vector: the raw little-endian values of all vertices, as
numpy.fromfile("ranks.bin", "float32") reads them; --ids-output writes which vertex
is which.

Will you ask more than once? Convert the text to weir's own file first, which
opens at once and needs little memory:

  weir graph convert edges.csv.gz edges.weir
  weir graph components edges.weir
  weir graph path edges.weir "Oslo" "Lima"`

func (a *app) graphCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "graph",
		Short: "Rank, search, measure and convert graphs",
		Long:  graphHelp,
		Args:  knownCommand,
		RunE:  showHelp,
	}
	groups := []struct {
		group    cobra.Group
		commands []*cobra.Command
	}{
		{cobra.Group{ID: "answers", Title: "Answers:"}, []*cobra.Command{
			a.pagerankCommand(), a.componentsCommand(), a.sccCommand(), a.bfsCommand(), a.ssspCommand(), a.pathCommand(),
			a.kcoreCommand(), a.trianglesCommand(), a.clusteringCommand(), a.degreesCommand(),
		}},
		{cobra.Group{ID: "files", Title: "Files:"}, []*cobra.Command{a.convertCommand(), a.infoCommand(), a.generateCommand(), a.verifyCommand()}},
		{cobra.Group{ID: "one", Title: "What one thread can do:"}, []*cobra.Command{a.ladderCommand(), a.costCommand()}},
	}
	cobra.EnableCommandSorting = false
	for _, g := range groups {
		cmd.AddGroup(&g.group)
		for _, c := range g.commands {
			c.GroupID = g.group.ID
			cmd.AddCommand(c)
		}
	}
	return cmd
}
