// Wordcount counts the words of files, which may lie on several machines: each
// process reads the files that are named on its own command line, each word is counted by one
// worker of all, and each worker prints its words.
//
//	go run ./examples/wordcount -w 2 README.md ARCHITECTURE.md
package main

import (
	"bufio"
	"cmp"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode"

	"weir/timely"
)

func main() {
	config := timely.Flags(flag.CommandLine)
	flag.Parse()
	cfg, err := config()
	if err == nil {
		err = timely.Run(cfg, func(w *timely.Worker) error {
			// The workers of a process share its files.
			var mine []string
			for i, file := range flag.Args() {
				if i%cfg.Threads == w.Index()%cfg.Threads {
					mine = append(mine, file)
				}
			}
			return count(w, mine)
		})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "wordcount:", err)
		os.Exit(1)
	}
}

// wordCount is how often a word occurs.
type wordCount struct {
	Word  string
	Count int
}

// count is run by every worker, each with its own files.
func count(w *timely.Worker, files []string) error {
	var lines *timely.Input[string]
	var counts timely.Results[wordCount]
	var probe timely.Probe
	w.Dataflow("wordcount", func(s *timely.Scope) {
		lines = timely.NewInput[string](s)
		lines.Stream().
			FlatMap(func(line string, emit func(string)) {
				notWord := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }
				for word := range strings.FieldsFuncSeq(line, notWord) {
					emit(strings.ToLower(word))
				}
			}).
			Aggregate(
				func(word string) string { return word },                          // the key: whoever gets it counts it
				func(n *int, word string) { *n++ },                                // what a record does to the count
				func(word string, n int) wordCount { return wordCount{word, n} }). // what comes out, when all words have come in
			Collect(&counts).
			Probe(&probe)
	})

	for _, name := range files {
		if err := read(w, name, lines); err != nil {
			return err
		}
	}
	lines.Close() // no more lines from here
	if err := w.StepUntil(probe.Done); err != nil {
		return err
	}

	list := counts.At(timely.Epoch(0))
	slices.SortFunc(list, func(a, b wordCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Word, b.Word))
	})
	for _, c := range list {
		fmt.Printf("%d %s\n", c.Count, c.Word)
	}
	return nil
}

// read sends the lines of a file.
func read(w *timely.Worker, name string, lines *timely.Input[string]) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	scanner := bufio.NewScanner(file)
	scanner.Buffer(nil, 1<<20)
	for n := 1; scanner.Scan(); n++ {
		lines.Send(scanner.Text())
		if n%1000 == 0 { // work on what there is before reading on
			if _, err := w.Step(); err != nil {
				return err
			}
			for w.Congested() { // another process is behind: do not read on, but sleep until it has room
				if err := w.StepOrPark(0); err != nil {
					return err
				}
			}
		}
	}
	if err := scanner.Err(); err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	return nil
}
