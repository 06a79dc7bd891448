#!/bin/bash
# Makes a copy of Lua that belongs to Redouble alone. Usage: CC=COMPILER embed_lua.sh HEADERS OUTPUT ARCHIVE...
#
# HEADERS is the folder of lua.h. The ARCHIVEs are Lua compiled as C++, cjson and bitop. The result is
# one object, OUTPUT/lua.o, and OUTPUT/include with the headers. In both, a function <name> of Lua is
# called redouble_<name>; sources that include these headers need not know.
#
# Reason: the C build of Lua has the same symbols. In a program that links both builds, one of them
# serves all callers, and an error of the C build jumps over C++ frames without running destructors.
# Nothing can replace symbols of our own. The object also fits into a shared library; Debian's archives
# do not, because they are not position independent.
#
# The compiler names the tools that go with it, so the ARCHIVEs may be those of another processor. Scripts see the
# numbers of x86-64 there too (lua_numbers.c).
set -euo pipefail

headers="$1" output="$2"
shift 2
readonly COMPILER="${CC:-cc}"
nm="$("$COMPILER" -print-prog-name=nm)"
ld="$("$COMPILER" -print-prog-name=ld)"
objcopy="$("$COMPILER" -print-prog-name=objcopy)"
readonly NUMBERS="$(dirname "$0")/lua_numbers.c"
mkdir -p "$output/include"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

# The functions of Lua's interface get a new name; all other symbols become local.
"$nm" -g --defined-only "$@" | awk 'NF == 3 { print $3 }' | sort -u >"$work/names"
grep -E '^lua[LI]?_|^luaopen_' "$work/names" >"$work/interface"
grep -vxFf "$work/interface" "$work/names" >"$work/internals"
awk '{ print $1, "redouble_" $1 }' "$work/interface" >"$work/renames"

# In a shared library, the address of a variable of the C library is not known when the library is
# linked. Lua refers to three such variables, and gets copies of them.
cat >"$work/streams.c" <<'END'
#include <stdio.h>

#define HIDDEN __attribute__((visibility("hidden")))
HIDDEN FILE *redouble_stdin, *redouble_stdout, *redouble_stderr;

__attribute__((constructor)) static void SetStreams(void) {
  redouble_stdin = stdin;
  redouble_stdout = stdout;
  redouble_stderr = stderr;
}
END
(cd "$work" && "$COMPILER" -O2 -fPIC -c streams.c)
printf '%s redouble_%s\n' stdin stdin stdout stdout stderr stderr >>"$work/renames"

# lua_numbers.c replaces these functions for the engine, and those that are wrapped inside Lua too.
objects=("$work/lua.o" "$work/streams.o")
wrapped=()
if [[ "$("$COMPILER" -dumpmachine)" != x86_64-* ]]; then
  "$COMPILER" -O2 -fPIC -fexceptions -c -o "$work/numbers.o" "$NUMBERS"
  objects+=("$work/numbers.o")
  wrapped=(--wrap=lua_tointeger --wrap=luaL_checknumber)
  for name in lua_tointeger lua_tonumber lua_pushnumber luaL_checknumber luaL_optnumber; do
    sed -i "s/^$name .*/$name redouble_own_$name/" "$work/renames"
  done
  printf '%s redouble_%s\n' __wrap_lua_tointeger lua_tointeger __wrap_luaL_checknumber inner_luaL_checknumber \
    strtod inner_strtod pow inner_pow sprintf inner_sprintf __sprintf_chk inner_sprintf_chk >>"$work/renames"
fi

# No section is shared with other objects: not even the type of Lua's exception, which never leaves Lua.
"$ld" -r --force-group-allocation "${wrapped[@]}" -o "$work/lua.o" --whole-archive "$@" --no-whole-archive
"$objcopy" --localize-symbols="$work/internals" --redefine-syms="$work/renames" "$work/lua.o"
"$ld" -r -o "$output/lua.o" "${objects[@]}"

cp "$headers"/*.h* "$output/include"
{
  awk '{ print "#define", $1, "redouble_" $1 }' "$work/interface"
  cat "$headers/luaconf.h"
} >"$output/include/luaconf.h"
