package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"weir/graph/generate"
)

// dataVariable names the folder of real graphs in the environment.
const dataVariable = "WEIR_SHARED_DATA"

// realGraphs begin the names of the files that are measured by default, and say
// in which columns edges stand where those are not the first two.
var realGraphs = []struct {
	prefixes []string
	name     string
	columns  []int
}{
	{[]string{"uk-2007-05-100000."}, "uk-2007-05-100000", nil},
	{[]string{"soc-Slashdot0902."}, "soc-Slashdot0902", nil},
	{[]string{"cit-HepTh."}, "cit-HepTh", nil},
	{[]string{"openflights-routes.", "openflights/routes."}, "openflights", []int{3, 5}},
}

// input is a graph to measure: one that is generated, or a file.
type input struct {
	name    string
	spec    *generate.Spec // nil for a file
	path    string
	columns []int // of a text, in which edges stand; nil for the first two
}

// undirected says that the reverse of every edge is to be added.
func (in input) undirected() bool { return in.spec != nil && in.spec.Kind == generate.Kronecker }

// seed is that of all generated graphs.
const seed = 1

func generated(kind generate.Kind, scale int) input {
	name := "RMAT"
	if kind == generate.Kronecker {
		name = "Kronecker"
	}
	return input{name: fmt.Sprintf("%s %d", name, scale), spec: &generate.Spec{Kind: kind, Scale: scale, Seed: seed}}
}

// inputs lists the graphs to measure, generated ones first.
func (o options) inputs(root string) ([]input, error) {
	var all []input
	add := func(kind generate.Kind, scales []int) {
		for _, scale := range scales {
			if scale != 0 {
				all = append(all, generated(kind, scale))
			}
		}
	}
	add(generate.RMAT, o.scales)
	add(generate.Kronecker, o.kronecker)
	for _, in := range all {
		if _, _, err := in.spec.Size(); err != nil {
			return nil, err
		}
	}
	if len(o.graphs) == 0 {
		found, err := findGraphs(root)
		return append(all, found...), err
	}
	for _, arg := range o.graphs {
		in, err := parseGraph(arg)
		if err != nil {
			return nil, err
		}
		all = append(all, in)
	}
	return all, nil
}

var columnsSuffix = regexp.MustCompile(`^(.+):(\d+),(\d+)$`)

// parseGraph reads a file's name, perhaps with the columns of its edges behind it.
func parseGraph(arg string) (input, error) {
	in := input{path: arg}
	if part := columnsSuffix.FindStringSubmatch(arg); part != nil {
		in.path = part[1]
		for _, digits := range part[2:] {
			column, err := strconv.Atoi(digits)
			if err != nil || column < 1 {
				return input{}, fmt.Errorf("--graph %s: column %s, expected 1 or more", arg, digits)
			}
			in.columns = append(in.columns, column)
		}
	}
	if _, err := os.Stat(in.path); err != nil {
		return input{}, fmt.Errorf("--graph %s: %w", arg, err)
	}
	in.name, _, _ = strings.Cut(filepath.Base(in.path), ".")
	return in, nil
}

// findGraphs looks for the default real graphs, where there are any.
func findGraphs(root string) ([]input, error) {
	dir := os.Getenv(dataVariable)
	if dir == "" {
		dir = filepath.Join(root, "testdata")
	}
	var files []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, path)
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) && os.Getenv(dataVariable) == "" {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for graphs: %w", err)
	}
	var found []input
	for _, known := range realGraphs {
		if path := firstWith(files, known.prefixes); path != "" {
			found = append(found, input{name: known.name, path: path, columns: known.columns})
		}
	}
	return found, nil
}

// firstWith is the first of files whose last elements begin with one of prefixes.
func firstWith(files, prefixes []string) string {
	for _, path := range files {
		for _, prefix := range prefixes {
			if strings.Contains(filepath.ToSlash(path), "/"+prefix) {
				return path
			}
		}
	}
	return ""
}
