#!/bin/sh
# From an empty folder to a report that can be read, in four commands: docs/first-corpus.md shows what they print.
#   sh first_corpus.sh [FOLDER WITH offers.csv AND new-offers.csv] [MINUTES] [WHAT TO INSTALL]
set -eu
data=${1:-$(dirname "$0")}
minutes=${2:-3}
package=${3:-$(dirname "$0")/..}

python3 -m venv .venv && .venv/bin/pip install --quiet "$package"
.venv/bin/textsplice fit "$data/offers.csv" --text-column description --minutes "$minutes" --out runs/offers
.venv/bin/textsplice generate runs/offers "$data/new-offers.csv" --out texts.jsonl
.venv/bin/textsplice report texts.jsonl
