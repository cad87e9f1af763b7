#!/usr/bin/env bash
# Runs every fuzz target of the module for a while: fuzz.sh [TIME].
set -euo pipefail
cd "$(dirname "$0")/.."
export GOTOOLCHAIN=go1.27.3

time=${1:-10s}
for dir in $(git grep -l '^func Fuzz' -- '*_test.go' | xargs -n1 dirname | sort -u); do
	for target in $(grep -ho '^func Fuzz[A-Za-z0-9_]*' "$dir"/*_test.go | cut -c6- | sort -u); do
		echo "fuzz ./$dir $target $time"
		go test "./$dir" -run '^$' -fuzz "^$target\$" -fuzztime "$time"
	done
done
