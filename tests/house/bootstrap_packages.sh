#!/usr/bin/env bash
# bootstrap_packages.sh SOURCE_FOLDER: script/bootstrap installs what a distribution has, names what
# it lacks, and without apt-get tells what to install otherwise. The distribution is a fake one.
set -euo pipefail
source=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
  echo "bootstrap_packages: $*" >&2
  cat "$scratch/output" >&2
  exit 1
}
expect() { # expect TEXT
  grep -qF -- "$1" "$scratch/output" || fail "it did not print '$1'"
}
# Only these tools, and the fake package manager.
bin=$scratch/bin
mkdir "$bin" "$scratch/cmake_bin"
for tool in bash dirname env grep id mkdir mktemp mv rm sed cat; do
  ln -s "$(command -v "$tool")" "$bin/$tool"
done
bootstrap() { # bootstrap PATH [OPTION]
  local status=0
  PATH=$1 bash "$source/script/bootstrap" "${@:2}" >"$scratch/output" 2>&1 || status=$?
  return "$status"
}

! bootstrap "$bin" --demo || fail "it passed without apt-get, cmake and ninja"
expect "cmake and ninja are required"
expect "script/bootstrap: error: something is missing, and there is no apt-get to install it"
expect "dnf install gcc-c++ cmake"
expect "pacman -S gcc cmake"
expect "cmake --preset demo"
expect "cmake --build --preset demo"
! bootstrap "$bin" --arm64 || fail "it passed without apt-get"
expect "script/bootstrap: error: --arm64 needs Debian's packages, and there is no apt-get"

# What CMake says counts.
for tool in cmake ninja; do
  ln -s "$bin/$tool" "$scratch/cmake_bin/$tool"
done
printf '#!%s\n' "$(command -v bash)" >"$bin/ninja"
printf '#!%s\n[[ $* == "--preset dev -B "* ]]\n' "$(command -v bash)" >"$bin/cmake"
chmod +x "$bin/ninja" "$bin/cmake"
bootstrap "$bin" || fail "CMake finds everything, and it failed"
[[ ! -s $scratch/output ]] || fail "CMake finds everything, and it printed something"
printf '#!%s\necho "Could not find cxxopts"; exit 1\n' "$(command -v bash)" >"$bin/cmake"
! bootstrap "$bin" || fail "CMake finds no cxxopts, and it passed"
expect "Could not find cxxopts"
expect "cmake --preset dev"

# A distribution in the folder $scratch/known, with the packages in $scratch/installed.
mkdir "$scratch/known" "$scratch/installed"
cat >"$bin/apt-cache" <<END
#!$(command -v bash)
[[ -e $scratch/known/\${!#} ]]
END
cat >"$bin/dpkg-query" <<END
#!$(command -v bash)
[[ -e $scratch/installed/\${!#} ]] && echo "ii "
END
cat >"$bin/apt-get" <<END
#!$(command -v bash)
words="\$*"
case "\$words" in
  *" --download-only "*)
    echo "UNPACKS \${words##*--download-only }"
    words=\${words##*Dir::Cache=}
    : >"\${words%% *}/archives/x.deb"
    ;;
  *" install "*) echo "INSTALLS \${words##*--no-install-recommends }" ;;
  *" update") echo UPDATES ;;
esac
END
printf '#!%s\nexec "$@"\n' "$(command -v bash)" >"$bin/sudo"
cat >"$bin/dpkg" <<END
#!$(command -v bash)
mkdir "\${!#}/usr"
END
chmod +x "$bin"/{apt-cache,dpkg,dpkg-query,apt-get,sudo}

! bootstrap "$bin" || fail "it passed on a distribution without g++"
expect "UPDATES"
expect "error: this distribution has no package g++, which is required"

mapfile -t required < <(sed -n '/^build_packages=(/,/^)/p; /^test_packages=(/,/^)/p' \
  "$source/script/bootstrap" | sed 's/^[a-z_]*=(//; s/#.*//; s/)//' | tr ' ' '\n' | grep .)
[[ ${#required[@]} -gt 15 ]] || fail "the list of required packages was not read"
(cd "$scratch/known" && touch "${required[@]}" pocl-opencl-icd clang-19)
(cd "$scratch/installed" && touch "${required[@]}")
bootstrap "$bin" || fail "it failed on a distribution without optional packages"
expect "script/bootstrap: not in this distribution: oclgrind mesa-opencl-icd"
expect "tests that need them are skipped"
expect "INSTALLS pocl-opencl-icd clang-19" # for clang-15|clang-19

touch "$scratch/installed/clang-19" "$scratch/installed/pocl-opencl-icd"
bootstrap "$bin" || fail "it failed with everything installed"
! grep -q "INSTALLS\|UPDATES" "$scratch/output" || fail "it installed something again"

# The first alternative that the distribution has is installed, even if another one is there.
touch "$scratch/known/clang-15"
bootstrap "$bin" || fail "it failed to install clang-15"
expect "INSTALLS clang-15"

# Another user needs sudo.
rm "$bin/id" "$bin/sudo"
printf '#!%s\necho 1000\n' "$(command -v bash)" >"$bin/id"
chmod +x "$bin/id"
! bootstrap "$bin" || fail "it passed without the rights to install clang-15"
expect "script/bootstrap: error: packages are missing, and there is no sudo: run it as root"
rm "$bin/id"
ln -s "$(command -v id)" "$bin/id"

# For another architecture: the compiler is installed, and the libraries are unpacked, once.
mkdir -p "$scratch/tree/script"
cp "$source/script/bootstrap" "$scratch/tree/script"
touch "$scratch/known/g++-i686-linux-gnu"
libraries=$scratch/tree/build/libraries/i386
source=$scratch/tree bootstrap "$bin" --i386 || fail "it failed to prepare a build for i386"
expect "script/bootstrap: unpacking libzstd-dev libsodium-dev liblz4-dev zlib1g-dev libfmt-dev libgmock-dev for i386 into $libraries"
expect "UNPACKS libzstd-dev libsodium-dev liblz4-dev zlib1g-dev libfmt-dev libgmock-dev"
expect "INSTALLS g++-i686-linux-gnu"
[[ $(echo "$libraries"/*) == "$libraries/packages $libraries/usr" ]] || fail "$libraries is not what the packages contain"
touch "$scratch/installed/g++-i686-linux-gnu"
source=$scratch/tree bootstrap "$bin" --i386 || fail "it failed with everything unpacked"
[[ ! -s $scratch/output ]] || fail "it unpacked something again"
