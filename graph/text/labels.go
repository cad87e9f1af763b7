package text

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// ReadLabels reads labels of vertices from a table with quoted fields, comments
// and separators as edge lists have them. Columns are 1-based. Lines whose key
// is empty or `\N` are left out; of several lines with one key the first counts.
func ReadLabels(in *Input, key, label int) (map[string]string, error) {
	if key < 1 || label < 1 || key > maxColumn || label > maxColumn {
		return nil, fmt.Errorf("read labels %s: columns %d and %d, want 1 to %d", in.name, key, label, maxColumn)
	}
	if in.used {
		return nil, fmt.Errorf("read labels %s: it was read already", in.name)
	}
	if why := notText(in.sample); why != "" {
		return nil, fmt.Errorf("read labels %s: %s", in.name, why)
	}
	in.used = true
	if in.decoder != nil {
		defer in.decoder.Close()
	}
	cutter := fieldCutter{sep: labelSeparator(in)}
	rest := in.r
	if in.whole || in.broken != nil {
		rest = strings.NewReader("")
	}
	scanner := bufio.NewScanner(io.MultiReader(bytes.NewReader(bytes.TrimPrefix(in.sample, bom)), rest))
	scanner.Buffer(nil, defaultMaxLine)
	labels := map[string]string{}
	var at int64
	for scanner.Scan() {
		at++
		line := scanner.Bytes()
		if row := trimLead(line, cutter.sep); nothingIn(line) || hashComments.comment(row) {
			continue
		}
		fields, err := cutter.cut(line, max(key, label))
		if err == nil && len(fields) < max(key, label) {
			err = fmt.Errorf("%s separated by %s, want at least %d", countFields(len(fields)), separatorName(cutter.sep), max(key, label))
		}
		if err != nil {
			return nil, fmt.Errorf("read labels: %w", &LineError{File: in.name, Line: at, Reason: err.Error(), Text: shown(line)})
		}
		k := fields[key-1]
		if _, ok := labels[string(k)]; !ok && len(k) > 0 && string(k) != `\N` {
			labels[string(k)] = string(fields[label-1])
		}
	}
	err := scanner.Err()
	switch {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("read labels: %w", tooLong(in.name, at+1, nil, defaultMaxLine))
	case err != nil:
		return nil, in.explain(err)
	case in.broken != nil:
		return nil, in.broken
	}
	return labels, nil
}

// labelSeparator is the separator of the first lines.
func labelSeparator(in *Input) byte {
	var data [][]byte
	for line := range lines(bytes.TrimPrefix(in.sample, bom), in.whole) {
		if row := trimLead(line, 0); !nothingIn(row) && !hashComments.comment(row) {
			if data = append(data, line); len(data) == maxSampled {
				break
			}
		}
	}
	return findSeparator(data)
}
