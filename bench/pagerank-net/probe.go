package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// probeFor is how long a link is measured, and probeTimes how often: the best counts, as it is
// a limit.
const (
	probeFor   = 500 * time.Millisecond
	probeTimes = 3
)

// probe measures how many bits a second host 0 can send to host 1, by TCP.
func (b *bench) probe(ctx context.Context) (best float64, err error) {
	for range probeTimes {
		rate, err := b.probeOnce(ctx)
		if err != nil {
			return 0, fmt.Errorf("probe: %w", err)
		}
		best = max(best, rate)
	}
	return best, nil
}

func (b *bench) probeOnce(ctx context.Context) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	address := fmt.Sprintf("%s:%d", b.hosts.address(1), port)
	receiver := b.hosts.on(ctx, 1, os.Args[0], "probe", "receive", address)
	out, err := receiver.StdoutPipe()
	if err != nil {
		return 0, err
	}
	receiver.Stderr = os.Stderr
	if err := receiver.Start(); err != nil {
		return 0, err
	}
	sender := b.hosts.on(ctx, 0, os.Args[0], "probe", "send", address)
	if text, err := sender.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%w: %s", err, text)
	}
	text, err := io.ReadAll(out)
	if err != nil {
		return 0, err
	}
	if err := receiver.Wait(); err != nil {
		return 0, err
	}
	rate, err := strconv.ParseFloat(strings.TrimSpace(string(text)), 64)
	if err != nil {
		return 0, fmt.Errorf("it says %q, expected bits a second", text)
	}
	return rate, nil
}

// probeEnd is one end of a measurement; the receiver prints bits a second.
func probeEnd(ctx context.Context, what, address string, w io.Writer) error {
	if what == "send" {
		return probeSend(ctx, address)
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer l.Close()
	conn, err := l.Accept()
	if err != nil {
		return err
	}
	defer conn.Close()
	buf := make([]byte, 256<<10)
	var bytes int64
	var begin time.Time
	for {
		n, err := conn.Read(buf)
		if begin.IsZero() {
			begin, n = time.Now(), 0 // what the first read took is not known
		}
		bytes += int64(n)
		if err != nil {
			break
		}
	}
	_, err = fmt.Fprintln(w, 8*float64(bytes)/time.Since(begin).Seconds())
	return err
}

func probeSend(ctx context.Context, address string) error {
	var conn net.Conn
	err := fmt.Errorf("no time to call %s", address)
	for begin := time.Now(); err != nil && time.Since(begin) < 10*time.Second && ctx.Err() == nil; {
		if conn, err = new(net.Dialer).DialContext(ctx, "tcp", address); err != nil {
			time.Sleep(20 * time.Millisecond) // the other end is yet to listen
		}
	}
	if err != nil {
		return err
	}
	defer conn.Close()
	buf := make([]byte, 256<<10)
	for begin := time.Now(); time.Since(begin) < probeFor; {
		if _, err := conn.Write(buf); err != nil {
			return err
		}
	}
	return nil
}
