package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"weir/graph/text"
)

// labelFlag is the flag --labels: a file with names for vertices, and which of
// its columns hold them.
type labelFlag struct {
	path    string
	columns []int // 1-based: the id, then what makes up its label
}

func (l *labelFlag) Set(s string) error {
	const expected = "expected FILE:IDCOLUMN,NAMECOLUMN such as airports.csv:1,2"
	i := strings.LastIndexByte(s, ':')
	if i <= 0 {
		return errors.New(expected)
	}
	columns := strings.Split(s[i+1:], ",")
	if len(columns) < 2 {
		return errors.New(expected)
	}
	l.path, l.columns = s[:i], nil
	for _, c := range columns {
		n, err := strconv.Atoi(c)
		if err != nil || n < 1 {
			return fmt.Errorf("column %q: %s", c, expected)
		}
		l.columns = append(l.columns, n)
	}
	return nil
}

func (l *labelFlag) String() string {
	if l.path == "" {
		return ""
	}
	columns := make([]string, len(l.columns))
	for i, c := range l.columns {
		columns[i] = strconv.Itoa(c)
	}
	return l.path + ":" + strings.Join(columns, ",")
}

func (l *labelFlag) Type() string { return "file:columns" }

// labels are what ids stand for.
type labels map[string]string

// read reads the file that the flag names; nil if it names none. Several name
// columns are joined; what is empty or missing is left out.
func (l *labelFlag) read() (labels, error) {
	var all labels
	for _, column := range l.columns[min(1, len(l.columns)):] {
		more, err := readLabels(l.path, l.columns[0], column)
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = labels{}
		}
		for id, label := range more {
			switch have := all[id]; {
			case label == "" || label == `\N`:
			case have == "":
				all[id] = label
			default:
				all[id] = have + ", " + label
			}
		}
	}
	return all, nil
}

// readLabels reads what the ids in one column stand for in another.
func readLabels(path string, id, label int) (labels, error) {
	in, err := text.Open(path)
	if err != nil {
		return nil, fmt.Errorf("--labels: %w", err)
	}
	defer in.Close()
	return text.ReadLabels(in, id, label)
}
