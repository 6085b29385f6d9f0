# lib.sh - what the scripts of this folder share; sourced. $LODE is the program, $WORK an empty folder of this script,
# $MARKOV a scripted model (tests/cases/gen_markov.py): a prompt that ends in [[NAME]] gets a known answer.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
LODE=${LODE:-$root/build/lode}
WORK=$(mktemp -d "${TMPDIR:-/tmp}/lode-cli.XXXXXX")
trap 'rm -rf "$WORK"' EXIT
MARKOV=$WORK/markov.gguf
python3 "$root/tests/cases/gen_markov.py" "$MARKOV" > /dev/null || exit 1
failures=0 checks=0
export LC_ALL=C

fault() {
  failures=$((failures + 1))
  printf 'FAILED %s\n' "$1"
  sed -n '1,6s/^/  stdout: /p' "$WORK/out"
  sed -n '1,6s/^/  stderr: /p' "$WORK/err"
}

# run RC COMMAND...: runs it into $WORK/out and $WORK/err (input from $WORK/in when it is there) and checks the exit code.
run() {
  local want=$1 rc=0 in=/dev/null
  shift
  checks=$((checks + 1))
  [ -e "$WORK/in" ] && in=$WORK/in
  timeout 60 "$@" < "$in" > "$WORK/out" 2> "$WORK/err" || rc=$?
  [ "$rc" = "$want" ] || fault "exit code $rc, want $want: $*"
}

# out TEXT / err TEXT: what the last run wrote, exactly. has TEXT / tells TEXT: a part of standard output / error.
out() { printf "$1" | cmp -s - "$WORK/out" || fault "stdout is not '$1'"; }
err() { printf "$1" | cmp -s - "$WORK/err" || fault "stderr is not '$1'"; }
has() { grep -qF -- "$1" "$WORK/out" || fault "stdout lacks '$1'"; }
tells() { grep -qF -- "$1" "$WORK/err" || fault "stderr lacks '$1'"; }
lines() { [ "$(wc -l < "$WORK/$1")" "$2" "$3" ] || fault "$1 has $(wc -l < "$WORK/$1") lines, want $2 $3"; }
# One clear line and nothing else on standard error.
one_line() { lines err -eq 1; }

finish() {
  echo "$checks commands, $failures failures"
  [ "$failures" = 0 ]
}
