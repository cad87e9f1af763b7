#!/usr/bin/env bash
# Format, vet, staticcheck, and vet for the platforms we do not run on.
set -euo pipefail
cd "$(dirname "$0")/.."
export GOTOOLCHAIN=go1.27.3

unformatted=$(git ls-files '*.go' | xargs "$(go env GOROOT)/bin/gofmt" -l)
if [ -n "$unformatted" ]; then
	printf 'not formatted (make fmt):\n%s\n' "$unformatted" >&2
	exit 1
fi
go vet ./...
GOOS=darwin GOARCH=arm64 go vet ./...
GOOS=windows GOARCH=amd64 go vet ./...
GOARCH=386 go vet ./... # where an int has 32 bits
go tool -modfile=tools/go.mod staticcheck ./...
