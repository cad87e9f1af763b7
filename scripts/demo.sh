#!/usr/bin/env bash
# The tour: the world's airports ranked by their routes, answers that follow them, one thread's ladder, and a machine's
# figures stored and asked for.
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

say "Figures of a machine, two a second, stored as series"
rm -rf out/demo/host out/demo/data
tar xzf testdata/host/host.tar.gz -C out/demo
# cpu-3.txt becomes the series "cpu figure=3".
(cd out/demo/host && awk '
	BEGIN { print "series,timestamp,value" }
	FNR == 1 { split(FILENAME, part, /[-.]/); name = part[1] " figure=" part[2] " host=demo" }
	{ printf "%s,%.0f00000000,%s\n", name, 17000000000 + FNR * 5, $1 }' *.txt) > out/demo/host.csv
run series load out/demo/data out/demo/host.csv
printf '+!deploy host=demo\r\n:1700000100000000000\r\n+version 2 is out\r\n' | run series load out/demo/data --format resp
run series stats out/demo/data

say "Ask for points, for sums, for spans of time, for series side by side, for events, and for names"
run series query out/demo/data --select load --where figure=1 --limit 3 --format table
run series query out/demo/data --aggregate cpu --func max --format table
run series query out/demo/data --group-aggregate cpu --where figure=3 --step 10m --func min,mean,max --limit 5 --format table
run series query out/demo/data --join load,cpu --where figure=1 --limit 3 --format table
run series query out/demo/data --group-aggregate-join load,cpu --where figure=1 --step 10m --func max --limit 3 --format table
run series query out/demo/data --events '!deploy' --format table
run series query out/demo/data --suggest --metric mem --tag figure --format table
run series query out/demo/data '{"select": "load", "range": {"from": "20231114T221320", "to": "20231114T221323"}, "where": {"figure": ["0", "1"]}, "apply": [{"name": "rate"}], "output": {"format": "csv"}}'
run series chart out/demo/data --metric load --height 12
run series chart out/demo/data --metric load --svg out/demo/load.svg

printf '\nThe plots are out/demo/ladder.svg and out/demo/load.svg.\n'
