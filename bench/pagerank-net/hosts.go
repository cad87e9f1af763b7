package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// hosts are network namespaces, each with a link to a bridge in one more.
type hosts struct {
	prefix string
	names  []string
}

// port is where each host listens.
const port = 2101

// link is the speed of a link, and how tc shapes it.
type link struct {
	name  string  // for people
	rate  string  // for tc
	bits  float64 // a second
	burst string  // what may be sent at once
}

// The bursts are what a busy machine needs to keep the rates up, since it looks at a link only every
// so often: about 2 ms of them.
var (
	slow = link{"1G", "1gbit", 1e9, "256kb"}
	fast = link{"10G", "10gbit", 10e9, "2mb"}
)

func (l link) String() string { return strings.TrimSuffix(l.name, "G") + " Gbit/s" }

// command runs a program for its effect.
func command(ctx context.Context, name string, args ...string) error {
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}

// ip runs commands of ip, one a line; the first that fails ends it.
func ip(ctx context.Context, lines ...string) error {
	for _, line := range lines {
		if err := command(ctx, "ip", strings.Fields(line)...); err != nil {
			return err
		}
	}
	return nil
}

func (h *hosts) bridge() string { return h.prefix + "-switch" }

// address is where a host is.
func (h *hosts) address(i int) string { return fmt.Sprintf("10.77.0.%d", i+1) }

// addresses are where n processes listen, one on each host.
func (h *hosts) addresses(n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf("%s:%d", h.address(i), port))
	}
	return strings.Join(all, ",")
}

// newHosts makes n hosts. Remove them, whether or not it fails.
func newHosts(ctx context.Context, prefix string, n int) (*hosts, error) {
	h := &hosts{prefix: prefix}
	sw := h.bridge()
	err := ip(ctx, "netns add "+sw, "-n "+sw+" link add br0 type bridge", "-n "+sw+" link set br0 up")
	for i := 0; i < n && err == nil; i++ {
		name := fmt.Sprintf("%s-%d", prefix, i)
		if err = ip(ctx, "netns add "+name); err != nil {
			break
		}
		h.names = append(h.names, name)
		err = ip(ctx,
			fmt.Sprintf("link add eth0 netns %s type veth peer name p%d netns %s", name, i, sw),
			fmt.Sprintf("-n %s addr add %s/24 dev eth0", name, h.address(i)),
			fmt.Sprintf("-n %s link set lo up", name),
			fmt.Sprintf("-n %s link set eth0 up", name),
			fmt.Sprintf("-n %s link set p%d master br0 up", sw, i),
		)
	}
	return h, err
}

// shape makes all links as fast as l, in both directions.
func (h *hosts) shape(ctx context.Context, l link) error {
	for i, name := range h.names {
		for _, end := range []string{"-n " + name + " qdisc replace dev eth0", fmt.Sprintf("-n %s qdisc replace dev p%d", h.bridge(), i)} {
			args := strings.Fields(end + " root tbf rate " + l.rate + " burst " + l.burst + " latency 50ms")
			if err := command(ctx, "tc", args...); err != nil {
				return err
			}
		}
	}
	return nil
}

// remove takes the hosts away again, with their links.
func (h *hosts) remove() error {
	var errs []error
	for _, name := range append(h.names, h.bridge()) {
		// Even where the run was interrupted.
		errs = append(errs, command(context.Background(), "ip", "netns", "del", name))
	}
	return errors.Join(errs...)
}

// on is a command that runs on a host.
func (h *hosts) on(ctx context.Context, host int, program string, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, "ip", append([]string{"netns", "exec", h.names[host], program}, args...)...)
}
