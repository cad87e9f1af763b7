#!/usr/bin/env bash
# The tour: the world's airports ranked by their routes, and one thread's ladder.
set -euo pipefail
cd "$(dirname "$0")/.."

weir=bin/weir
routes=testdata/openflights/routes.dat.gz
airports=testdata/openflights/airports.dat.gz
scale=${SCALE:-18}
mkdir -p out/demo

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
run() {
	printf '$ weir %s\n' "$*"
	"$weir" "$@"
}

say "The world's airports, ranked by the routes into them (OpenFlights)"
run graph pagerank $routes --columns 3,5 --labels $airports:5,2 --top 10 --format table

say "Which airports can reach one another?"
run graph components $routes --columns 3,5 --labels $airports:5,2 --top 5 --format table

say "From the Falkland Islands to Svalbard, with as few changes as possible"
run graph path $routes MPN LYR --columns 3,5 --labels $airports:5,2

say "The same routes as a stored graph, which opens at once"
run graph convert $routes out/demo/routes.weir --columns 3,5 --orders out,in,hilbert,compressed
run graph info out/demo/routes.weir

say "A random graph of 2^$scale vertices, and the ladder that one thread climbs"
run graph generate rmat out/demo/rmat.weir --scale "$scale"
run graph ladder out/demo/rmat.weir --plot out/demo/ladder.svg

printf '\nThe plot is in out/demo/ladder.svg.\n'
