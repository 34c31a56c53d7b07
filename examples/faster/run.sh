#!/bin/sh
# Optimise a function in a copy of this folder (KEEP names it; without, it is removed), and show what was taken.
set -e
folder=${KEEP:-$(mktemp -d)}
test -n "$KEEP" || trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder"
cp "$(dirname "$0")"/*.py "$(dirname "$0")"/ralph-tracker.yaml "$folder"
cd "$folder"
echo "Make count_primes faster." > PROMPT.md
ralph-tracker run --trust --prompt-file PROMPT.md --max-iterations 5 -- python3 agent.py
ralph-tracker history
for iteration in 2 3 4; do
    ralph-tracker show $iteration | grep -A1 "^not taken"
done
