package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/rogpeppe/go-internal/testscript"
)

// raceQuick keeps the race detector from sleeping for a second at the end of each of
// the hundreds of processes that the tests start.
const raceQuick = "atexit_sleep_ms=0"

func TestMain(m *testing.M) {
	if os.Getenv("GORACE") == "" {
		os.Setenv("GORACE", raceQuick) // the name and the value are valid
	}
	testscript.Main(m, map[string]func(){"weir": main})
}

// The scripts in testdata/script run the binary itself.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"pack": pack, "json": checkJSON, "code": code, "size": size, "flip": flip,
		},
	})
}

// pack FILE... compresses files beside themselves, as FILE.gz and FILE.zst.
func pack(ts *testscript.TestScript, neg bool, args []string) {
	for _, name := range args {
		var packed bytes.Buffer
		g := gzip.NewWriter(&packed)
		_, err := g.Write([]byte(ts.ReadFile(name)))
		ts.Check(errors.Join(err, g.Close()))
		ts.Check(os.WriteFile(ts.MkAbs(name+".gz"), packed.Bytes(), 0o666))
		packed.Reset()
		z, err := zstd.NewWriter(&packed)
		ts.Check(err)
		_, err = z.Write([]byte(ts.ReadFile(name)))
		ts.Check(errors.Join(err, z.Close()))
		ts.Check(os.WriteFile(ts.MkAbs(name+".zst"), packed.Bytes(), 0o666))
	}
}

// json FILE [PATH VALUE]... checks that a file (or stdout) holds one JSON value, and
// what stands at the paths, such as rows.0.id.
func checkJSON(ts *testscript.TestScript, neg bool, args []string) {
	var document any
	if err := json.Unmarshal([]byte(ts.ReadFile(args[0])), &document); err != nil {
		ts.Fatalf("%s is not JSON: %v\n%s", args[0], err, ts.ReadFile(args[0]))
	}
	for i := 1; i+1 < len(args); i += 2 {
		at := document
		for _, key := range strings.Split(args[i], ".") {
			switch v := at.(type) {
			case map[string]any:
				at = v[key]
			case []any:
				index, err := strconv.Atoi(key)
				if err != nil || index >= len(v) {
					ts.Fatalf("%s: no element %s of %d", args[i], key, len(v))
				}
				at = v[index]
			default:
				at = nil
			}
		}
		got, err := json.Marshal(at)
		ts.Check(err)
		if want := args[i+1]; string(got) != want && string(got) != strconv.Quote(want) {
			ts.Fatalf("%s is %s, want %s", args[i], got, want)
		}
	}
}

// code N [-int DURATION] COMMAND ARG... runs a command, perhaps interrupts it after
// a while, and checks its exit code. Its output goes to the files out and err.
func code(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	args = args[1:]
	var after time.Duration
	if args[0] == "-int" {
		after, err = time.ParseDuration(args[1])
		ts.Check(err)
		args = args[2:]
	}
	path := filepath.SplitList(ts.Getenv("PATH"))[0]
	cmd := exec.Command(filepath.Join(path, args[0]), args[1:]...)
	cmd.Dir, cmd.Env = ts.MkAbs("."), append(os.Environ(), "PATH="+ts.Getenv("PATH"))
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	ts.Check(cmd.Start())
	if after > 0 {
		time.Sleep(after)
		ts.Check(cmd.Process.Signal(os.Interrupt))
	}
	_ = cmd.Wait() // the exit code says it all
	ts.Check(os.WriteFile(ts.MkAbs("out"), stdout.Bytes(), 0o666))
	ts.Check(os.WriteFile(ts.MkAbs("err"), stderr.Bytes(), 0o666))
	if got := cmd.ProcessState.ExitCode(); got != want {
		ts.Fatalf("exit code %d, want %d\n%s", got, want, stderr.String())
	}
}

// size N FILE checks the length of a file.
func size(ts *testscript.TestScript, neg bool, args []string) {
	if got, want := len(ts.ReadFile(args[1])), args[0]; strconv.Itoa(got) != want {
		ts.Fatalf("%s has %d bytes, want %s", args[1], got, want)
	}
}

// flip FILE OFFSET changes a byte of a file.
func flip(ts *testscript.TestScript, neg bool, args []string) {
	data := []byte(ts.ReadFile(args[0]))
	at, err := strconv.Atoi(args[1])
	ts.Check(err)
	data[at] ^= 0x40
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), data, 0o666))
}
