#!/usr/bin/env bash
# Distributed PageRank over links of 1 and 10 Gbit/s, on one machine: network namespaces
# are the hosts, a bridge in another is the switch, and tc shapes the links between.
# Writes docs/results/pagerank-net.md. Arguments go to the program: --short, --scale 22, …
#
# It needs root and iproute2; where it has not, it says so and that is no failure.
set -euo pipefail
cd "$(dirname "$0")/../.."
export GOTOOLCHAIN=${GOTOOLCHAIN:-go1.27.3}
limit=${LIMIT:-20m}

skip() {
	echo "pagerank-net: skipped: $*"
	exit 0
}
[ "$(uname -s)" = Linux ] || skip "network namespaces are of Linux"
[ "$(id -u)" = 0 ] || skip "network namespaces take root"
for tool in ip tc; do
	command -v "$tool" >/dev/null || skip "there is no $tool (package iproute2)"
done
# The program cleans up too; this is for when it cannot.
prefix=weir$$
cleanup() {
	ip netns list | awk -v p="$prefix-" 'index($1, p) == 1 { print $1 }' | while read -r name; do
		ip netns pids "$name" | xargs -r kill -9
		ip netns del "$name"
	done
}
trap cleanup EXIT
trap 'exit 130' INT TERM
ip netns add "$prefix-try" 2>/dev/null || skip "this machine lets nobody make network namespaces"
ip -n "$prefix-try" link add eth0 type veth peer name eth1 2>/dev/null || skip "this machine has no virtual links (veth)"
tc -n "$prefix-try" qdisc add dev eth0 root tbf rate 1gbit burst 128kb latency 50ms 2>/dev/null || skip "this machine cannot shape links (tc tbf)"
ip -n "$prefix-try" link add br0 type bridge 2>/dev/null || skip "this machine has no bridges"
ip netns del "$prefix-try"

mkdir -p bin
go build -trimpath -o bin/weir ./cmd/weir
go build -trimpath -o bin/pagerank-net ./bench/pagerank-net
timeout --foreground "$limit" bin/pagerank-net --prefix "$prefix" --weir bin/weir "$@"
