#!/usr/bin/env bash
# Runs the tests of the Python package with one of the Pythons and PyOpenCLs.
# Usage: run.sh WHICH PACKAGE [OPTIONS OF pytest]
# WHICH:
#   debian       Debian's Python and PyOpenCL, with every platform
#   pypi         Debian's Python and the PyOpenCL of PyPI, whose wheel contains the only ICD loader
#   pypy         Debian's PyPy, without PyOpenCL
#   no_pyopencl  Debian's Python without PyOpenCL
#   no_platform  Debian's Python and PyOpenCL, without any platform
# PACKAGE: a wheel, which is installed in a new virtual environment, or the directory of a build, whose
# libraries are then used.
# Exits with 77 if the Python is missing, unless CI=true.
set -euo pipefail

which=$1
package=$(realpath "$2")
shift 2
tests=$(cd "$(dirname "$0")" && pwd)
sources=$(cd "$tests/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
skip() {
  echo "run.sh: $*" >&2
  [[ ${CI:-} == true ]] && exit 1
  exit 77
}

unset PYTHONPATH VIRTUAL_ENV PYTHONHOME CLBIN_CACHE CLBIN_CACHE_POCL CLBIN_CACHE_MAX_SIZE
export HOME=$scratch TMPDIR=$scratch PYTHONDONTWRITEBYTECODE=1 PYOPENCL_NO_CACHE=1
export CLBIN_SOURCE=$sources CLBIN_HEADER=$sources/libclbin/include/clbin/clbin.h
python=/usr/bin/python3
venv_options=(--system-site-packages --without-pip)
site=
case $which in
  debian) export CLBIN_TEST_HIDDEN= ;;
  pypi)
    site=${CLBIN_PYPI_ENVIRONMENT:-}
    [[ -n $site && -e $site/bin/python ]] || skip "CLBIN_PYPI_ENVIRONMENT names no directory"
    venv_options=(--without-pip)
    mkdir "$scratch/no-loader"
    : >"$scratch/no-loader/libOpenCL.so.1" # dlopen() fails
    export LD_LIBRARY_PATH=$scratch/no-loader CLBIN_TEST_HIDDEN=loader
    ;;
  pypy)
    python=/usr/bin/pypy3
    export CLBIN_TEST_HIDDEN=pyopencl
    ;;
  no_pyopencl) export CLBIN_TEST_HIDDEN=pyopencl ;;
  no_platform)
    mkdir "$scratch/vendors"
    export OCL_ICD_VENDORS=$scratch/vendors CLBIN_TEST_HIDDEN=platforms
    ;;
  *) echo "run.sh: error: unknown: $which" >&2; exit 2 ;;
esac
[[ -x $python ]] || skip "$python is missing"

path=()
if [[ -n $site ]]; then
  path+=("$(echo "$site"/lib/python3*/site-packages)")
fi
if [[ $package == *.whl ]]; then
  "$python" -m venv "${venv_options[@]}" "$scratch/venv"
  /usr/bin/python3 -m pip --quiet --disable-pip-version-check --python "$scratch/venv/bin/python" \
    install --no-index --no-deps "$package"
  python=$scratch/venv/bin/python
  [[ $("$scratch/venv/bin/oclcc" --version) == oclcc* ]]
else
  mkdir -p "$scratch/package/clbin/_native" # what a wheel contains
  ln -s "$sources"/python/src/clbin/* "$scratch/package/clbin"
  ln -s "$package"/libclbin/libclbin{.so.1,_layer.so} "$package/oclcc/oclcc" "$scratch/package/clbin/_native"
  path+=("$scratch/package")
  [[ -z $site ]] || python=$site/bin/python
fi
if [[ ${#path[@]} -gt 0 ]]; then
  PYTHONPATH=$(IFS=:; echo "${path[*]}")
  export PYTHONPATH
fi
cd "$scratch"
"$python" -m pytest -q -p no:cacheprovider --rootdir "$tests" "$@" "$tests"
