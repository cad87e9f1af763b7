package mesh

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
)

// checkAddress says whether text is host:port with a port that is a number.
func checkAddress(text string) error {
	_, port, err := net.SplitHostPort(text)
	if err != nil {
		return err
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("address %s: port %q is not a number up to 65535", text, port)
	}
	return nil
}

// ParseAddresses reads the addresses of all processes, as in
// "weir-0.weir:9000,weir-1.weir:9000". Names are looked up whenever a process is dialled.
func ParseAddresses(list string) ([]string, error) {
	var addresses []string
	for part := range strings.SplitSeq(list, ",") {
		part = strings.TrimSpace(part)
		if err := checkAddress(part); err != nil {
			return nil, fmt.Errorf("parse addresses %q: %w", list, err)
		}
		addresses = append(addresses, part)
	}
	return addresses, nil
}

// LoadHosts reads the addresses of all processes from a file with one host:port a
// line. Empty lines, and what follows a #, do not count.
func LoadHosts(path string) ([]string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("load hosts: %w", err)
	}
	defer file.Close()
	var addresses []string
	lines := bufio.NewScanner(file)
	for number := 1; lines.Scan(); number++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		if err := checkAddress(text); err != nil {
			return nil, fmt.Errorf("load hosts: %s:%d: %w", path, number, err)
		}
		addresses = append(addresses, text)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("load hosts: %s: %w", path, err)
	}
	if len(addresses) == 0 {
		return nil, fmt.Errorf("load hosts: %s names no host", path)
	}
	return addresses, nil
}

// ResolveAddresses finds all processes behind one name:port, such as that of a
// headless service: each address that the name has is a process, in the order of
// the addresses. It also returns which of them is an address of this machine,
// or -1.
func ResolveAddresses(ctx context.Context, name string) (addresses []string, process int, err error) {
	if err := checkAddress(name); err != nil {
		return nil, -1, fmt.Errorf("resolve addresses: %w", err)
	}
	host, port, _ := net.SplitHostPort(name)
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, -1, fmt.Errorf("resolve addresses: %w", err)
	}
	own, err := net.InterfaceAddrs()
	if err != nil {
		return nil, -1, fmt.Errorf("resolve addresses: list those of this machine: %w", err)
	}
	for i, ip := range found {
		found[i] = ip.Unmap()
	}
	slices.SortFunc(found, netip.Addr.Compare)
	process = -1
	for i, ip := range slices.Compact(found) {
		addresses = append(addresses, net.JoinHostPort(ip.String(), port))
		if process < 0 && slices.ContainsFunc(own, func(a net.Addr) bool {
			prefix, err := netip.ParsePrefix(a.String())
			return err == nil && prefix.Addr().Unmap() == ip
		}) {
			process = i
		}
	}
	return addresses, process, nil
}
