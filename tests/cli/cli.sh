#!/usr/bin/env bash
# cli.sh BUILD - exit codes and messages of the program, without a model.
set -uo pipefail
build=$(cd "$1" && pwd); bad=0
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
# expect NAME CODE TEXT COMMAND...: exit code, and a part of what is printed on either stream, in at most 40 lines.
expect() {
  local name=$1 code=$2 text=$3 out rc; shift 3
  out=$("$@" 2>&1 < /dev/null); rc=$?
  if [ $rc != "$code" ] || [[ "$out" != *"$text"* ]]; then
    echo "FAIL $name: exit $rc (want $code): $out" | head -5; bad=1
  else echo "ok   $name"; fi
}
lode=$build/lode
cd "$work" # no models here
expect "no command: help, exit 2" 2 "usage: lode COMMAND" "$lode"
expect "--help" 0 "chat" "$lode" --help
expect "--version" 0 "lode 0." "$lode" --version
expect "a near miss of a command" 2 "did you mean 'lode run'" "$lode" runn
expect "an unknown command" 2 "lists them" "$lode" frobnicate
expect "-m alone suggests chat" 2 "lode chat -m x.gguf" "$lode" -m x.gguf
expect "a near miss of an option" 2 "did you mean --model" "$lode" run --modle x
expect "an option without its value" 2 "needs a value" "$lode" run -m
expect "a number that is none" 2 "whole number" "$lode" run -m x -n many
mkdir -p "$work/away/bin" && cp "$lode" "$work/away/bin/" # where no model lies beside it
expect "no model names make chat" 2 "make chat" env -C "$work/away" bin/lode chat
mkdir -p "$work/away/models" && : > "$work/away/models/SmolLM2-135M-Instruct.Q4_1.gguf"
expect "the model of make chat is named" 2 "there is one" env -C "$work/away" bin/lode chat
expect "a missing file" 1 "no such file" "$lode" run -m "$work/none.gguf" -p x
expect "a folder points to convert" 1 "lode convert" "$lode" run -m "$work" -p x
expect "devices lists the CPU" 0 "CPU" "$lode" devices
expect "an unknown ISA" 1 "mmx" "$lode" devices --isa mmx
expect "convert without a folder" 2 "which folder" "$lode" convert
expect "convert of an empty folder" 1 "config.json" "$lode" convert "$work"
: > "$work/empty.gguf"; head -c 1000000 /dev/urandom > "$work/noise.gguf"
expect "an empty model" 1 "empty.gguf" "$lode" run -m "$work/empty.gguf" -p x
expect "noise as a model" 1 "noise.gguf" "$lode" run -m "$work/noise.gguf" -p x
expect "noise to inspect" 1 "noise.gguf" "$lode" inspect -m "$work/noise.gguf"
for c in run chat bench inspect tokenize devices compare convert; do
  n=$("$lode" $c --help | wc -l); [ "$n" -le 24 ]; expect "$c --help fits a screen ($n lines)" $? "" true
  [ "$n" -le 24 ] || bad=1
done
exit $bad
