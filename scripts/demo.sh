#!/usr/bin/env bash
# The tour: the world's airports ranked by their routes, answers that follow them, and one thread's ladder.
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

# Transactions, as somebody might type them.
type_slowly() {
	for transaction in "$@"; do
		sleep 1
		printf '%s\n' "$transaction" commit
	done
	sleep 1
}

say "Nouméa's two airports are connected, and disconnected again: the components follow"
printf -- '+ NOU GEA, commit, - NOU GEA, commit | '
type_slowly '+ NOU GEA' '- NOU GEA' |
	run live components $routes --columns 3,5 --labels $airports:5,2 --limit 4

say "The Falkland Islands get a flight to London, then none to Chile: how many changes to everywhere else?"
printf -- '+ MPN LHR, commit, - MPN PUQ, commit, - MPN LHR, commit | '
type_slowly '+ MPN LHR' '- MPN PUQ' '- MPN LHR' |
	run live bfs $routes --columns 3,5 --root MPN --labels $airports:5,2 --limit 4

say "The same routes as a stored graph, which opens at once"
run graph convert $routes out/demo/routes.weir --columns 3,5 --orders out,in,hilbert,compressed
run graph info out/demo/routes.weir

say "A random graph of 2^$scale vertices, and the ladder that one thread climbs"
run graph generate rmat out/demo/rmat.weir --scale "$scale"
run graph ladder out/demo/rmat.weir --plot out/demo/ladder.svg

say "The same graph as it changes: an edge at a time moves elsewhere, and the components follow"
run live components out/demo/rmat.weir --rewire 1000

printf '\nThe plot is in out/demo/ladder.svg.\n'
