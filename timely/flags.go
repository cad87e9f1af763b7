package timely

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"weir/mesh"
)

// firstPort is where processes on one machine listen, if nobody says otherwise: this
// port, the next, and so on.
const firstPort = 2101

// Flags adds the flags that say which workers run a program, and returns a function
// that makes the [Config] once they are parsed:
//
//	-w 4        workers in each process
//	-n 2        processes
//	-p 0        the number of this process, from 0
//	-h FILE     where the processes listen: a file of one host:port a line, or host:port,host:port
//	-secret F   a file whose content all processes know, and nobody else
//	-wait 1m    how long to wait for the other processes at the start
//
// All processes are started with the same flags but -p. Without -h they listen on ports of this machine
// from 2101 on. They must be the same binary, to the byte: one of another build might do something else
// under the same names.
//
//	config := timely.Flags(flag.CommandLine)
//	flag.Parse()
//	cfg, err := config()
func Flags(flags *flag.FlagSet) func() (Config, error) {
	threads := flags.Int("w", 1, "`workers` in each process")
	processes := flags.Int("n", 0, "`number` of processes (as many as hosts)")
	process := flags.Int("p", 0, "the `number` of this process, from 0")
	hosts := flags.String("h", "", "`file` with the host:port of each process on a line, or host:port,host:port (ports of this machine from 2101 on)")
	secret := flags.String("secret", "", "`file` with what all processes know and nobody else")
	wait := flags.Duration("wait", 30*time.Second, "how long to wait for the other processes at the start")
	return func() (Config, error) {
		c := Config{Config: mesh.Config{Threads: *threads, Processes: *processes, Process: *process, Wait: *wait}}
		switch {
		case *threads < 1:
			return c, fmt.Errorf("-w %d: expected at least one worker in each process", *threads)
		case *processes < 0:
			return c, fmt.Errorf("-n %d: expected at least one process", *processes)
		}
		var err error
		switch {
		case *hosts == "":
			c.Processes = max(*processes, 1)
			for i := range c.Processes {
				c.Addresses = append(c.Addresses, fmt.Sprintf("localhost:%d", firstPort+i))
			}
		case strings.Contains(*hosts, ":"):
			c.Addresses, err = mesh.ParseAddresses(*hosts)
		default:
			c.Addresses, err = mesh.LoadHosts(*hosts)
		}
		if err != nil {
			return c, fmt.Errorf("-h: %w", err)
		}
		if c.Processes == 0 {
			c.Processes = len(c.Addresses)
		}
		if c.Processes > len(c.Addresses) {
			return c, fmt.Errorf("-n %d: -h %s has only %d hosts", c.Processes, *hosts, len(c.Addresses))
		}
		c.Addresses = c.Addresses[:c.Processes]
		if c.Process < 0 || c.Process >= c.Processes {
			return c, fmt.Errorf("-p %d: expected 0 to %d, as there are %d processes", c.Process, c.Processes-1, c.Processes)
		}
		if *secret != "" {
			if c.Secret, err = mesh.LoadSecret(*secret, nil); err != nil {
				return c, fmt.Errorf("-secret: %w", err)
			}
		}
		if c.Processes > 1 {
			if c.Fingerprint, err = ownBinary(); err != nil {
				return c, err
			}
		}
		return c, nil
	}
}

// ownBinary identifies the program by what it is made of, so that processes of
// different builds, whose operators may do different things under equal names, do
// not work together.
func ownBinary() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find the program's own file: %w", err)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("read the program's own file: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("read the program's own file: %w", err)
	}
	return fmt.Sprintf("%s, binary %x", filepath.Base(path), h.Sum(nil)[:8]), nil
}
