#!/usr/bin/env bash
# Runs every fuzz target of the module for a while: fuzz.sh [TIME].
set -euo pipefail
cd "$(dirname "$0")/.."
export GOTOOLCHAIN=go1.27.3

time=${1:-10s}
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# fuzz runs one target. Go's fuzzer sometimes takes the end of its time for a failure
# ("context deadline exceeded", with no input that fails): that is tried once more. To make
# interesting inputs smaller would take most of the time.
fuzz() {
	go test "$1" -run '^$' -fuzz "^$2\$" -fuzztime "$time" -fuzzminimizetime 1x 2>&1 | tee "$log" && return
	grep -q 'context deadline exceeded' "$log" && ! grep -q 'Failing input' "$log" || return 1
	go test "$1" -run '^$' -fuzz "^$2\$" -fuzztime "$time" -fuzzminimizetime 1x
}

for dir in $(git grep -l '^func Fuzz' -- '*_test.go' | xargs -n1 dirname | sort -u); do
	for target in $(grep -ho '^func Fuzz[A-Za-z0-9_]*' "$dir"/*_test.go | cut -c6- | sort -u); do
		echo "fuzz ./$dir $target $time"
		fuzz "./$dir" "$target"
	done
done
