#!/usr/bin/env python3
"""Checks that the shared library exports exactly what the header declares, and that each declaration
states its first version: exported_symbols.py NM libclbin.so clbin.h, or OBJDUMP libclbin.dll clbin.h

exported_symbols.py NM libclbin.so clbin.h libclbin.a also checks that the static library calls no
function of the C library that Android's lacks, and none of the libraries libm and libfmt, which users would
have to link, and that only clbin_check_answers and clbin_warm contain the check of known answers."""

import pathlib
import re
import subprocess
import sys

# What the library calls, looked up in the list of Android's C library: libc/libc.map.txt and
# libdl/libdl.map.txt of https://android.googlesource.com/platform/bionic, introduced in API level 23
# or before.
OF_ANDROID = set(
    """
    _exit abort access atexit close closedir dlerror dlopen dlsym environ fchmod fchown fcntl fdopendir
    flock fork frexpf fstat fstatat fsync ftruncate futimens fwrite getauxval getegid getenv geteuid getgid
    getpid getpwuid_r getrlimit gettid getuid ioctl isatty isspace ldexp ldexpf linkat localeconv lseek
    lstat madvise memchr memcmp memcpy memmem memmove memset mkdirat mkdtemp mkostemp nanosleep open
    openat poll prctl pread pthread_mutex_lock pthread_mutex_unlock pthread_once pthread_sigmask
    read readdir recv rename renameat send setenv setpriority setrlimit setsid sigaction sigaddset sigemptyset
    sigfillset sigismember sigpending sigtimedwait snprintf socketpair stat stdout strcmp strlen
    strnlen strtod strtoll strtoull sysconf unlink unlinkat utimensat waitpid write
    """.split()
)
# glibc's errno, and what the compiler calls: its runtime libraries exist for each C library.
OF_COMPILER = re.compile(
    "_Z(?!N?K?3fmt)|__cxa_|_Unwind_|__gxx_|__(errno_location|dso_handle|tls_get_addr|once_proxy|dynamic_cast)$"
    "|__(libc_single_threaded|stack_chk_fail)$|__u?(div|mod|divmod)ti[34]$|_GLOBAL_OFFSET_TABLE_$"
    "|pthread_cond_clockwait$"
)
OF_LIBRARIES = re.compile("ZSTD_|crypto_|sodium_|randombytes_|cl[A-Z]")


def calls_missing_on_android(nm: str, archive: str) -> list[str]:
    listing = subprocess.check_output([nm, "--format=posix", archive], text=True)
    symbols = [line.split()[:2] for line in listing.splitlines() if line.count(" ") > 0]
    defined = {name for name, kind in symbols if kind not in "Uw"}
    # Headers of glibc since 2.38 name C23's strtoll and the like so, and with -D_FORTIFY_SOURCE memcpy
    # __memcpy_chk.
    called = {
        re.sub("^__(.*)_chk$", r"\1", name.removeprefix("__isoc23_"))
        for name, kind in symbols
        if kind == "U"
    } - defined
    return sorted(
        name
        for name in called - OF_ANDROID
        if not OF_COMPILER.match(name) and not OF_LIBRARIES.match(name)
    )


def callers_of_the_check(nm: str, archive: str) -> list[str]:
    """The members that a program links for another reason, and that need the check of known answers:
    none, because the check reads manifests and launches kernels."""
    listing = subprocess.check_output([nm, "-A", "--format=posix", archive], text=True)
    calls = re.findall(r"\[(\S+)\]: _ZN5clbin6loader13check_answers\S+ U", listing)
    own = re.findall(r"\[(\S+)\]: clbin_(?:check_answers|warm) T", listing)
    # What clbin_warm calls; no other function may.
    calls += re.findall(r"\[(\S+)\]: _ZN5clbin6loader12warm_variant\S+ U", listing)
    own += re.findall(r"\[(\S+)\]: _ZN5clbin6loader12warm_variant\S+ T", listing)
    return sorted(set(calls) - set(own)) if len(own) == 3 else ["a function is missing"]


tool, library, header, *archives = sys.argv[1:]
if library.endswith(".dll"):
    listing = subprocess.check_output([tool, "--private-headers", library], text=True)
    names = listing.partition("[Ordinal/Name Pointer] Table")[2]
    exported = sorted(
        re.findall(
            r"^\t\[ *[0-9]+\] (?:\+base\[ *[0-9]+\] +[0-9a-f]+ )?(\S+)$", names, re.MULTILINE
        )
    )
else:
    listing = subprocess.check_output(
        [tool, "-D", "--defined-only", "--format=posix", library], text=True
    )
    exported = sorted(line.split()[0] for line in listing.splitlines())
text = pathlib.Path(header).read_text(encoding="utf-8")
declarations = list(re.finditer(r"CLBIN_API [^;(]*[ *](clbin_[a-z_]+)\(", text))
declared = sorted(found[1] for found in declarations)
# The comment above each declaration states its first version.
undated = [
    found[1]
    for found in declarations
    if not re.search(r"Since( |\n \* )[0-9]+\.[0-9]+\. \*/\n$", text[: found.start()])
]
print(f"{len(declared)} symbols")
if len(declared) < 30 or exported != declared or undated:
    sys.exit(f"exported: {exported}\ndeclared: {declared}\nwithout a version: {undated}")
for archive in archives:
    if missing := calls_missing_on_android(tool, archive):
        sys.exit(f"not known to exist on Android (see OF_ANDROID): {missing}")
    if callers := callers_of_the_check(tool, archive):
        sys.exit(f"known answers are checked by {callers}")
