package mesh

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// The tests run themselves as the other processes: with these variables set, the
// test binary is not one.
const (
	childAddresses = "WEIR_MESH_TEST_ADDRESSES"
	childProcess   = "WEIR_MESH_TEST_PROCESS"
)

func TestMain(m *testing.M) {
	if addresses := os.Getenv(childAddresses); addresses != "" {
		if err := child(strings.Split(addresses, ",")); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// child is a process that answers each number with itself, until it gets a 0.
func child(addresses []string) error {
	process, err := strconv.Atoi(os.Getenv(childProcess))
	if err != nil {
		return err
	}
	m, err := Start(context.Background(), Config{
		Processes: len(addresses), Process: process, Addresses: addresses,
		Timeout: time.Second, Fingerprint: "child",
	})
	if err != nil {
		return err
	}
	fmt.Println("started")
	if err := echo(m.Workers()[0]); err != nil {
		m.Close()
		return err
	}
	return m.Close()
}

func echo(p *Peer) error {
	to, from, err := p.Open[uint64]("echo")
	if err != nil {
		return err
	}
	var got []uint64
	for p.Err() == nil {
		p.Park(0)
		p.Ready(func(int) {})
		got = from.Take(got[:0])
		for _, n := range got {
			if n == 0 {
				return nil
			}
			to[0].Send(n)
		}
	}
	return p.Err()
}

// family starts other processes, and is process 0 itself.
func family(t testing.TB, processes int) (*Mesh, []*exec.Cmd, []*bufio.Scanner) {
	t.Helper()
	configs := loopback(t, processes, 1)
	for _, cfg := range configs[1:] {
		cfg.Listener.Close()
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	children := make([]*exec.Cmd, processes)
	output := make([]*bufio.Scanner, processes)
	for i := 1; i < processes; i++ {
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), childAddresses+"="+strings.Join(configs[0].Addresses, ","), childProcess+"="+strconv.Itoa(i))
		cmd.Stderr = os.Stderr
		pipe, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		output[i] = bufio.NewScanner(pipe)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		children[i] = cmd
		t.Cleanup(func() {
			cmd.Process.Kill()
			cmd.Wait()
		})
	}
	cfg := configs[0]
	cfg.Fingerprint = "child"
	cfg.Wait = 20 * time.Second
	cfg.Timeout = time.Second
	m := start(t, cfg)
	for i := 1; i < processes; i++ {
		if !output[i].Scan() || output[i].Text() != "started" {
			t.Fatalf("process %d says %q", i, output[i].Text())
		}
	}
	return m, children, output
}

// bounce sends n numbers to process 1, each after the answer to the one before.
func bounce(t require, p *Peer, to []*Sender[uint64], from *Receiver[uint64], n int) {
	var got []uint64
	for i := range uint64(n) {
		to[1].Send(i + 1)
		for got = got[:0]; len(got) == 0 && p.Err() == nil; got = from.Take(got[:0]) {
			p.Park(0)
			p.Ready(func(int) {})
		}
		if len(got) != 1 || got[0] != i+1 {
			t.Errorf("sent %d and got %d: %v", i+1, got, p.Err())
			return
		}
	}
}

func TestProcessesEndTogether(t *testing.T) {
	m, children, _ := family(t, 3)
	p := m.Workers()[0]
	to, from, err := p.Open[uint64]("echo")
	if err != nil {
		t.Fatal(err)
	}
	bounce(t, p, to, from, 1000)
	to[1].Send(0)
	to[2].Send(0)
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	for _, cmd := range children[1:] {
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v: %v", cmd.Args, err)
		}
	}
}

// Whoever is left when a process is killed, or stopped, hears which one it was, within the
// timeout, and ends.
func TestProcessDies(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(*os.Process) error
	}{
		{"killed", (*os.Process).Kill},
		{"stopped", stopProcess},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, children, output := family(t, 3)
			p := m.Workers()[0]
			to, from, err := p.Open[uint64]("echo")
			if err != nil {
				t.Fatal(err)
			}
			bounce(t, p, to, from, 10)
			if err := c.end(children[2].Process); errors.Is(err, errors.ErrUnsupported) {
				t.Skip(err)
			} else if err != nil {
				t.Fatal(err)
			}
			begin := time.Now()
			expectLost(t, m, 2)
			if waited := time.Since(begin); waited > 8*time.Second {
				t.Errorf("it took %v to notice", waited)
			}
			if !output[1].Scan() || !strings.Contains(output[1].Text(), "lost process 2") {
				t.Errorf("process 1 says %q", output[1].Text())
			}
			if err := children[1].Wait(); children[1].ProcessState.ExitCode() != 1 {
				t.Errorf("process 1 ended with %v", err)
			}
		})
	}
}

// A round trip between workers of two real processes.
func BenchmarkProcessesRoundTrip(b *testing.B) {
	m, children, _ := family(b, 2)
	p := m.Workers()[0]
	to, from, err := p.Open[uint64]("echo")
	if err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	bounce(b, p, to, from, b.N)
	b.StopTimer()
	to[1].Send(0)
	m.Close()
	children[1].Wait()
}
