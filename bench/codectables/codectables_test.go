package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"weir/internal/program"
)

// TestQuick measures everything for a moment, with small recorded series.
func TestQuick(t *testing.T) {
	data, dir := t.TempDir(), t.TempDir()
	write := func(name string, text []byte) {
		t.Helper()
		path := filepath.Join(data, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("elf/Wind.csv", []byte("1.5\n2.25\n\"\"\n3\n"))
	write("nab/taxis.csv", []byte("timestamp,value\n2014-07-01 00:00:00,10844\n2014-07-01 00:30:00,8127\n"))
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	a := tar.NewWriter(z)
	text := []byte("1\n2\n3\n")
	if err := a.WriteHeader(&tar.Header{Name: "host/cpu.txt", Mode: 0o644, Size: int64(len(text)), Typeflag: tar.TypeReg}); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	write("host.tar.gz", zipped.Bytes())

	var stdout, stderr bytes.Buffer
	if code := execute(t.Context(), []string{"--quick", "--values", "700", "--data", data, "--out", dir}, &stdout, &stderr); code != program.OK {
		t.Fatalf("exit code %d: %s", code, stderr.String())
	}
	page, err := os.ReadFile(filepath.Join(dir, reportName+".md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"NaN", "Inf ", "%!", data} {
		if strings.Contains(strings.ReplaceAll(string(page), "NaN payloads", ""), bad) {
			t.Errorf("the report says %q", bad)
		}
	}
	wanted := []string{"| Wind ", "| taxis ", "| host ", "1 figures", "](codecs-bits.svg)"}
	for _, k := range kinds {
		wanted = append(wanted, "| "+k.name+" ")
	}
	for _, c := range clocks {
		wanted = append(wanted, "| "+c.name+" ")
	}
	for _, want := range wanted {
		if !strings.Contains(string(page), want) {
			t.Errorf("the report does not say %q:\n%s", want, page)
		}
	}
	if svg, err := os.ReadFile(filepath.Join(dir, "codecs-bits.svg")); err != nil || !bytes.Contains(svg, []byte("</svg>")) {
		t.Errorf("the plot: %v", err)
	}
}

func TestValues(t *testing.T) {
	got, err := values(strings.NewReader("when,what\na,1\n\nb,-2.5\n\"\"\n"))
	if err != nil || !slices.Equal(got, []float64{1, -2.5}) {
		t.Errorf("read %v, %v", got, err)
	}
	for _, bad := range []string{"", "1\nx\n", "heading\n"} {
		if got, err := values(strings.NewReader(bad)); err == nil {
			t.Errorf("%q is read as %v", bad, got)
		}
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{"--for", "0s"}, {"--repetitions", "0"}, {"--values", "0"}, {"file"}} {
		if code := execute(t.Context(), args, io.Discard, io.Discard); code != program.Usage {
			t.Errorf("%v: exit code %d, want %d", args, code, program.Usage)
		}
	}
	if code := execute(t.Context(), []string{"--quick", "--data", t.TempDir(), "--out", t.TempDir()}, io.Discard, io.Discard); code != program.Failed {
		t.Errorf("a folder without data: exit code %d, want %d", code, program.Failed)
	}
}
