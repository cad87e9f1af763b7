#!/usr/bin/env bash
# Has a random graph re-wired at a steady rate for DURATION while its distances follow, and fails if memory or
# latencies grow. What it sees is written to FOLDER: a page, plots, and a line for each sample.
#
#	scripts/soak.sh 1h docs/results
set -euo pipefail
if [ $# -lt 1 ] || [ "${1#-}" != "$1" ]; then
	echo "usage: scripts/soak.sh DURATION [FOLDER [FLAG...]]; DURATION is such as 2m or 1h, FOLDER is out/soak unless given" >&2
	exit 2
fi
duration=$1
folder=${2:-}
cd "$(dirname "$0")/.."
export GOTOOLCHAIN=go1.27.3
exec go run ./bench/livetables --soak "$duration" --out "${folder:-out/soak}" "${@:3}"
