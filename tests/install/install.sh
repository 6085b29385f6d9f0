#!/usr/bin/env bash
# install.sh BUILD [MODEL] - installs into a scratch prefix, compiles examples/embed.c against it with pkg-config, and the headers
# as C++; runs the example on a file that is no model, or on the model (exit 77 where that is not there).
set -euo pipefail
build=$(cd "$1" && pwd); root=$PWD
model=${2:+${LODE_MODELS_DIR:-models}/$2}
if [ -n "$model" ] && [ ! -f "$model" ]; then echo "skipped: $model is missing"; exit 77; fi
prefix=$(mktemp -d); trap 'rm -rf "$prefix"' EXIT
cmake --install "$build" --prefix "$prefix" > /dev/null
pc=$(dirname "$(find "$prefix" -name lode.pc)"); lib=$(dirname "$(find "$prefix" -name 'liblode.a')")
flags=$(PKG_CONFIG_PATH=$pc pkg-config --cflags --libs lode)
cc -std=c11 -Wall -Werror "$root/examples/embed.c" $flags -o "$prefix/embed"
export LD_LIBRARY_PATH=$lib DYLD_LIBRARY_PATH=$lib
if "$prefix/embed" "$root/README.md" x 2> "$prefix/err"; then echo "a text file was taken for a model"; exit 1; fi
grep -q README.md "$prefix/err"

# The same from CMake: the package gives both libraries.
mkdir "$prefix/user"
cp "$root/examples/embed.c" "$prefix/user/"
cat > "$prefix/user/CMakeLists.txt" << 'T'
cmake_minimum_required(VERSION 3.18)
project(user C)
find_package(lode 0.1 REQUIRED)
add_executable(shared embed.c)
target_link_libraries(shared lode::lode)
add_executable(static embed.c)
target_link_libraries(static lode::lode_static)
T
cmake -S "$prefix/user" -B "$prefix/user/build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release > "$prefix/log" 2>&1 &&
  cmake --build "$prefix/user/build" >> "$prefix/log" 2>&1 || { tail -20 "$prefix/log"; exit 1; }
for how in shared static; do
  said=$("$prefix/user/build/$how" 2>&1) && exit 1
  case $said in *usage:*) ;; *) echo "the example linked $how does not start: $said"; exit 1 ;; esac
done

if [ -n "$model" ]; then
  "$prefix/embed" "$model" 'The capital of France is' | grep Paris
  "$prefix/user/build/static" "$model" 'The capital of France is' | grep -q Paris
  exit 0
fi
if command -v c++ > /dev/null; then
  for h in "$prefix"/include/lode/*.h; do echo "#include <lode/$(basename "$h")>"; done > "$prefix/all.cc"
  c++ -std=c++17 -Wall -I"$prefix/include" -fsyntax-only "$prefix/all.cc"
fi
[ "$("$prefix/bin/lode" --version)" = "$("$build/lode" --version)" ]
echo "installed, embedded, included from C++"
