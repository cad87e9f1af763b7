package main

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// real reads the recorded series of a folder: files of a value a line, files of a time and a value a
// line below a heading, and an archive of files of the former kind, which make one set.
func real(folder string) ([]set, error) {
	var all []set
	for _, pattern := range []string{"elf/*.csv", "nab/*.csv"} {
		files, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, fmt.Errorf("read series: %w", err)
			}
			vs, err := values(bytes.NewReader(text))
			if err != nil {
				return nil, fmt.Errorf("read series %s: %w", filepath.Base(file), err)
			}
			all = append(all, set{strings.TrimSuffix(filepath.Base(file), ".csv"), filepath.Dir(pattern), [][]float64{vs}})
		}
	}
	host, err := archive(filepath.Join(folder, "host.tar.gz"))
	if err != nil {
		return nil, fmt.Errorf("read series: %w", err)
	}
	all = append(all, set{"host", fmt.Sprintf("%d figures of a Linux machine", len(host)), host})
	return all, nil
}

// values reads a number a line, or the number behind the last comma; the first line may be a
// heading.
func values(r io.Reader) ([]float64, error) {
	var vs []float64
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line == `""` { // a missing value
			continue
		}
		v, err := strconv.ParseFloat(line[strings.LastIndexByte(line, ',')+1:], 64)
		switch {
		case err == nil:
			vs = append(vs, v)
		case n > 1:
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(vs) == 0 {
		return nil, errors.New("no values")
	}
	return vs, nil
}

// archive reads all series of an archive.
func archive(path string) ([][]float64, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var all [][]float64
	for t := tar.NewReader(unzipped); ; {
		head, err := t.Next()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if head.Typeflag != tar.TypeReg {
			continue
		}
		vs, err := values(t)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", path, head.Name, err)
		}
		all = append(all, vs)
	}
}
