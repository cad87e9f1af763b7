//go:build unix

package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// examples returns the command lines that a help text shows.
func examples(cmd *cobra.Command) (lines []string) {
	for line := range strings.Lines(cmd.Long + "\n" + cmd.Example) {
		if line = strings.TrimRight(line, "\n"); strings.HasPrefix(line, "  weir ") {
			command, _, _ := strings.Cut(strings.TrimSpace(line), "     ") // what follows explains
			lines = append(lines, command)
		}
	}
	for _, sub := range cmd.Commands() {
		lines = append(lines, examples(sub)...)
	}
	return lines
}

// files are those that the examples speak of.
var files = map[string]string{
	"changes.txt":    "# what happens\n+ Oslo Perth\ncommit\n- Lima Perth\n+ Lima \"New York\"\ncommit\n",
	"edges.csv.gz":   "from,to\nOslo,Lima\nLima,Perth\nPerth,Oslo\nPerth,Lima\n",
	"edges.csv":      "from,to\nOslo,Lima\nLima,Perth\nPerth,Oslo\nPerth,Lima\n",
	"links.tsv.gz":   "a\tb\nb\ta\nb\tc\n",
	"friends.txt.gz": "1 2\n2 3\n3 1\n3 4\n",
	"road.wel":       "0 1 42\n1 1500 7\n1500 0 3.5\n17 0 1\n",
	"routes.csv":     "KL,1,AMS,2,LAX,3\nKL,1,LAX,3,AMS,2\nKL,1,AMS,2,OSL,4\n",
	"airports.csv":   "2,Schiphol,Amsterdam,Netherlands,AMS\n3,Los Angeles,Los Angeles,United States,LAX\n",
	"trips.csv":      "New York,Boston,1,2,3,4,215\nBoston,Portland,1,2,3,4,112\n",
	"web.el":         "0 1\n1 2\n2 0\n2 17\n17 3\n",

	"cpu.csv.gz":        "time,host,dc,cpu\n2017-01-02T03:04:05Z,a,x,0.5\n2017-01-02T03:04:15Z,a,x,0.75\n2017-01-02T03:04:05Z,b,x,0.25\n",
	"mem.csv.gz":        "time,host,mem\n2017-01-02T03:04:05Z,a,1024\n",
	"temperatures.csv":  "1483228800,20.5\n1483228860,20.7\n",
	"metrics.influx.gz": "load,host=a value=0.5 1483228800000000000\n",
}

// Every example in the help texts must run, in the order in which they stand.
func TestExamplesRun(t *testing.T) {
	dir := t.TempDir()
	for name, text := range files {
		var b bytes.Buffer
		b.WriteString(text)
		if strings.HasSuffix(name, ".gz") {
			b.Reset()
			w := gzip.NewWriter(&b)
			w.Write([]byte(text))
			w.Close()
		}
		if err := os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(os.Args[0], filepath.Join(dir, "weir")); err != nil {
		t.Fatal(err)
	}
	shell := func(line string) {
		t.Helper()
		cmd := exec.Command("sh", "-c", line)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s\n%v\n%s", line, err, out)
		}
	}
	shell("weir graph convert web.el web.weir")
	shell("weir graph convert road.wel road.weir")
	shell("weir series load data cpu.csv.gz")
	app := &app{}
	lines := examples(app.rootCommand())
	if len(lines) < 30 {
		t.Errorf("only %d examples found", len(lines))
	}
	for _, line := range lines {
		if strings.HasPrefix(line, "weir manpage") {
			continue // it writes where the system keeps its pages
		}
		if testing.Short() && (strings.Contains(line, "graph ladder") || strings.Contains(line, "graph cost")) {
			continue // they measure for seconds
		}
		shell(line)
	}
}

// Every command says what it does, in a line and with an example.
func TestEveryCommandHasHelp(t *testing.T) {
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Name() == "help" || cmd.Name() == "completion" {
			return
		}
		if cmd.Short == "" || !cmd.HasSubCommands() && len(examples(cmd)) == 0 {
			t.Errorf("%s has no help or no example", cmd.CommandPath())
		}
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk((&app{}).rootCommand())
}
