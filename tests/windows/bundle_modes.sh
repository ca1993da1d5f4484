#!/usr/bin/env bash
# oclcc for Windows, in Wine, beside oclcc for Linux: both get the same words and the same files, and
# must print, write and return the same. bundle_modes.sh SOURCES OCLCC EMULATOR…
set -euo pipefail
sources=$1 program=$2
shift 2
emulator=("$@")
skip() {
  echo "skipped: $*"
  exit 77
}
linux=$sources/build/dev/oclcc/oclcc
[[ -x $linux ]] || linux=$(command -v oclcc) || skip "no oclcc (cmake --build --preset dev --target oclcc)"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir linux windows printed
export SOURCE_DATE_EPOCH=1700000000 NO_COLOR=1
on_linux() { # WORD…
  (cd linux && "$linux" "$@")
}
on_windows() { # WORD…
  (cd windows && "${emulator[@]}" "$program" "$@")
}
fail() {
  printf '%s\n' "$@"
  exit 1
}
same() { # WORD…
  local system status difference
  for system in linux windows; do
    status=0
    "on_$system" "$@" >printed/$system.out 2>printed/$system.err </dev/null || status=$?
    echo "exit status $status" >>printed/$system.err
  done
  for difference in "printed/linux.out printed/windows.out" "printed/linux.err printed/windows.err" \
    "-r linux windows"; do
    # shellcheck disable=SC2086
    diff $difference || fail "differs on Windows: oclcc $*"
  done
}
refused() { # MESSAGE WORD…
  local status=0 got
  got=$(on_windows "${@:2}" 2>&1 </dev/null) || status=$?
  [[ $status == 2 && $got == "oclcc: error: $1" ]] || fail "${*:2}" "expected: $1" "got ($status): $got"
}

# Files of both. Lines of Windows end with a carriage return, also in sources.
golden=$sources/tests/golden
for system in linux windows; do
  cp "$golden"/v1/*.clbin $system
  cp "$golden"/signed_v1/signed.clbin $system/by_key.clbin
  cp "$golden"/encrypted_v1/content.clbin $system/encrypted.clbin
  cp "$golden"/measured_v1/measured.clbin $system
  cp every_kind.clbin $system 2>/dev/null || true
  printf 'int f(int x) { return x; }\r\nkernel void k(global int* p) { *p = f(1); }\r\n' >$system/source.cl
done
all=(empty every_kind many_pages merged minor_1 names_only other_types stripped two_programs)
all=("${all[@]/%/.clbin}")

# Reading.
same --info "${all[@]}" by_key.clbin measured.clbin encrypted.clbin
same --info --json "${all[@]}" by_key.clbin
same --verify "${all[@]}" by_key.clbin missing.clbin
same --diff two_programs.clbin merged.clbin
same --extract every_kind.clbin two_programs.clbin -o extracted
same --provenance two_programs.clbin
same --sbom two_programs.clbin
same --report two_programs.clbin every_kind.clbin

# Changing: in place, and to another file.
same --repack "${all[@]}" measured.clbin
same --merge two_programs.clbin every_kind.clbin -o made.clbin
same --strip --strip-source every_kind.clbin -o stripped_source.clbin
same two_programs.clbin -o made.h
same two_programs.clbin -o made.hpp
same two_programs.clbin -o made.o --host-triple x86_64-linux-gnu
same --strip-signature by_key.clbin -o unsigned.clbin
same --info < /dev/null
same --source-only source.cl -o source.clbin

# Names beyond ASCII, and paths of Windows.
cp linux/two_programs.clbin linux/grün.clbin
cp linux/two_programs.clbin windows/grün.clbin
same --repack grün.clbin -o größer.clbin
on_windows --info "Z:${PWD//\//\\}\\windows\\grün.clbin" >/dev/null || fail "a path with backslashes"

# Keys.
on_linux --keygen key --no-passphrase
cp linux/key.* windows
same --sign --key key.key two_programs.clbin -o signed_here.clbin
same --verify --public-key key.pub signed_here.clbin
on_windows --keygen own --key-type recipient
on_windows --encrypt --encrypt-for own.pub two_programs.clbin -o sealed.clbin
cp windows/{own.*,sealed.clbin} linux
chmod 600 linux/own.key # Wine's access list adds rights of the group
on_linux --decrypt --decrypt-key own.key sealed.clbin -o opened.clbin
cmp linux/opened.clbin linux/two_programs.clbin
cp linux/opened.clbin windows

# What oclcc does not do on Windows.
refused "'--host-triple x86_64-windows': object files of 'windows' are not ELF; embed with -o k.c" \
  two_programs.clbin -o x.o
refused "'--record' is not available on Windows: its OpenCL loader has no layers" \
  --record r.clbin -- program
refused "'--watch' is not available on Windows: each round would be a copy of a process" \
  --watch source.cl
refused "two_programs.clbin: '--sign-with' is not available on Windows: there is no /bin/sh; use '--key'" \
  --sign --sign-with true --public-key key.pub two_programs.clbin -o x.clbin
