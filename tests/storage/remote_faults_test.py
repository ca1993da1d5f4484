#!/usr/bin/env python3
"""Tests the remote compile cache with two machines, nginx, and servers that answer with faults.

    remote_faults_test.py --oclcc OCLCC --platforms FOLDER

Prints a table with the seconds that each fault cost. Exit status 77: there is no nginx, except if
the variable CI is set.
"""

import argparse
import contextlib
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import fault_server
from fault_server import FaultServer
from machines import Machine, Nginx, enter_namespace, prepare_servers, watch_process_list

TOKEN = "Secret-Token-4711"
HANG_SECONDS = 30  # beyond a build without a remote cache; measured: 1
DEFAULT_MS = 1000  # the time that a remote cache may cost a run
PATIENT_MS = 20000  # if the machine may be slow, but nothing waits
TARGETS = ["--target", "spirv:1.2"]
SOURCES = ["first.cl", "second.cl"]
HITS = re.compile(r"remote cache: hit")
MISSES = re.compile(r"remote cache: miss")


@dataclass
class Expected:
    """Of a run with a fault."""

    warnings: int = 1
    hits: int = 0
    warning: str = ""  # a part of its text
    timeout_ms: int = PATIENT_MS  # CLBIN_REMOTE_TIMEOUT


def hang(warning=""):
    """Expected of a server that answers too late for every machine."""
    return Expected(warning=warning, timeout_ms=DEFAULT_MS)


def full(handler, request):
    """A fault: has no entries, and no space."""
    handler.answer(507 if request.method == "PUT" else 404, b"")


FAULTS = {
    "answer: not HTTP": (fault_server.raw(b"\xff\0garbage\r\n" * 99), Expected(warning="GET ")),
    "answer: closed without a byte": (fault_server.raw(b""), Expected(warning="without an answer")),
    "answer: truncated": (fault_server.truncated, Expected(warning="shorter than announced")),
    "answer: slow bytes": (fault_server.slow, hang("no ")),
    "answer: none": (fault_server.silent, hang("no ")),
    "answer: more than 64 MiB": (fault_server.endless, Expected(warning="longer than 64 MiB")),
    "answer: 404, and PUT fails": (fault_server.status(404), Expected(warning="PUT ")),
    "answer: 500": (fault_server.status(500), Expected(warning="the server answered 500")),
    "answer: redirects in a circle": (
        fault_server.redirect(lambda path: path),
        Expected(warning="more than 5 redirects"),
    ),
    "answer: redirect to file:///": (
        fault_server.redirect(lambda path: f"file://{path}"),
        Expected(warning="not followed"),
    ),
    "server full: PUT is answered 507": (full, Expected(warning="the server answered 507")),
}


class FaultError(Exception):
    pass


def require(condition, text, details=""):
    if not condition:
        raise FaultError(f"{text}\n{details}")


def warnings_of(ended):
    return [line for line in ended.stderr.splitlines() if "warning: " in line]


class Table:
    def __init__(self, first, second, nginx, address):
        self.first, self.second, self.nginx, self.address = first, second, nginx, address
        self.failures = 0
        self.reference = None  # the bundle of SOURCES, built without a remote cache
        self.seconds = 0  # that this took

    def row(self, name, test):
        try:
            print(f"{name:46} {test()}", flush=True)
        except FaultError as failure:
            self.failures += 1
            print(f"{name:46} FAILED: {failure}", flush=True)

    def build_without_cache(self):
        ended, self.reference, self.seconds = self.second.compile([*SOURCES, *TARGETS])
        require(ended.returncode == 0, "exit status", ended.stderr)
        return f"{self.seconds:.2f} s"

    def run(self, url, expected, **environment):
        """Compiles on the second machine. Returns what the table prints."""
        ended, bundle, seconds = self.second.compile(
            [*SOURCES, *TARGETS],
            CLBIN_REMOTE=url,
            CLBIN_REMOTE_TIMEOUT=str(expected.timeout_ms),
            **environment,
        )
        require(ended.returncode == 0, f"exit status {ended.returncode}", ended.stderr)
        require(
            bundle == self.reference, "the bundle differs from one built without a remote cache"
        )
        hits, warnings = len(HITS.findall(ended.stderr)), warnings_of(ended)
        require(hits == expected.hits, f"{hits} hits instead of {expected.hits}", ended.stderr)
        require(
            len(warnings) == expected.warnings,
            f"{len(warnings)} warnings instead of {expected.warnings}",
            ended.stderr,
        )
        require(
            all(expected.warning in line for line in warnings),
            f"no warning contains '{expected.warning}'",
            "\n".join(warnings),
        )
        require(TOKEN not in ended.stderr + ended.stdout, "the token is in a message", ended.stderr)
        require(seconds < self.seconds + HANG_SECONDS, f"took {seconds} s")
        text = re.sub(r"http://\S+?(?=: )", "URL", "".join(warnings)).removeprefix(
            "oclcc: warning: remote cache: "
        )
        return f"{seconds - self.seconds:+5.2f} s  {text}"

    # Rows.

    def share(self, words, units):
        """The second machine builds nothing of what the first has built."""
        remote = {"CLBIN_REMOTE": self.nginx.url, "CLBIN_REMOTE_TIMEOUT": str(PATIENT_MS)}
        before = len(self.nginx.requests())
        built, first_bundle, _ = self.first.compile(words, **remote)
        require(built.returncode == 0 and not warnings_of(built), "the first machine", built.stderr)
        require(len(MISSES.findall(built.stderr)) == units, f"not {units} misses", built.stderr)
        stored = self.nginx.requests()[before:]
        require(stored.count(("PUT", 201)) == units, f"not {units} entries were stored", stored)
        served, second_bundle, _ = self.second.compile(words, **remote)
        require(
            served.returncode == 0 and not warnings_of(served), "the second machine", served.stderr
        )
        require(len(HITS.findall(served.stderr)) == units, f"not {units} hits", served.stderr)
        answered = self.nginx.requests()[before + len(stored) :]
        require(answered == [("GET", 200)] * units, "unexpected requests", answered)
        require(first_bundle == second_bundle, "the bundles differ")
        return f"{units} units built on one machine, 0 on the other"

    def read_only(self):
        before = len(self.nginx.requests())
        built, _, _ = self.first.compile(
            [*SOURCES, "--target", "spirv:1.0"],
            CLBIN_REMOTE=self.nginx.url,
            CLBIN_REMOTE_TIMEOUT=str(PATIENT_MS),
            CLBIN_REMOTE_READ_ONLY="1",
        )
        require(
            built.returncode == 0 and not warnings_of(built), "exit status or warning", built.stderr
        )
        sent = self.nginx.requests()[before:]
        require(sent == [("GET", 404)] * len(SOURCES), "unexpected requests", sent)
        return "no PUT"

    def answer(self, fault, expected, entries=None, **environment):
        """A server whose answers have a fault."""
        with FaultServer(host=self.address) as server:
            server.fault = fault
            server.entries.update(entries or {})
            return self.run(server.url, expected, **environment)

    def entries(self):
        """Returns what nginx stores, by the paths of requests."""
        return {
            f"/cache/ac/{file.name}": file.read_bytes() for file in self.nginx.entries.iterdir()
        }

    def changed_entries(self, change):
        """nginx serves other bytes than were stored."""
        files = {file: file.read_bytes() for file in self.nginx.entries.iterdir()}
        for file, content in change(files).items():
            file.write_bytes(content)
        try:
            return self.run(self.nginx.url, Expected(warning="remote entry"))
        finally:
            for file, content in files.items():
                file.write_bytes(content)

    def redirected(self):
        """A redirect to another server, which has the entries, and does not see the token."""
        with FaultServer(host=self.address) as other:
            other.entries.update(self.entries())
            text = self.answer(
                fault_server.redirect(lambda path: other.url.removesuffix("/cache") + path),
                Expected(warnings=0, hits=len(SOURCES)),
                CLBIN_REMOTE_TOKEN=TOKEN,
            )
            sent = [request.headers.get("Authorization") for request in other.requests]
            require(sent == [None] * len(SOURCES), "the other server got credentials", sent)
            return text

    def stopped(self):
        self.nginx.process.send_signal(signal.SIGSTOP)
        try:
            return self.run(self.nginx.url, hang("no "))
        finally:
            self.nginx.process.send_signal(signal.SIGCONT)

    def killed(self):
        self.nginx.kill()
        try:
            return self.run(self.nginx.url, Expected(warning="cannot connect to the server"))
        finally:
            self.nginx.start()

    def helper_killed(self):
        """A run after the helper was killed starts another one."""
        self.run(self.nginx.url, Expected(warnings=0, hits=len(SOURCES)))
        killed = self.second.helpers()
        require(killed, "no helper")
        for helper in killed:
            os.kill(helper, signal.SIGKILL)
        text = self.run(self.nginx.url, Expected(warnings=0, hits=len(SOURCES)))
        started = set(self.second.helpers()) - set(killed)
        require(len(started) == 1, "no new helper")
        return text

    def helper_stopped(self):
        # Each time limit has a helper of its own.
        self.second.compile(
            [*SOURCES, *TARGETS], CLBIN_REMOTE=self.nginx.url, CLBIN_REMOTE_TIMEOUT=str(DEFAULT_MS)
        )
        helpers = self.second.helpers()
        require(helpers, "no helper")
        for helper in helpers:
            os.kill(helper, signal.SIGSTOP)
        try:
            return self.run(self.nginx.url, hang("no "))
        finally:
            for helper in helpers:
                os.kill(helper, signal.SIGKILL)

    def signed(self):
        """With a public key, only entries with a signature of their unit count."""
        made = self.first.run("--keygen", str(self.first.folder / "key"), "--no-passphrase")
        require(made.returncode == 0, "no key", made.stderr)
        url = f"{self.nginx.url}/signed"
        built, _, _ = self.first.compile(
            [*SOURCES, *TARGETS],
            CLBIN_REMOTE=url,
            CLBIN_REMOTE_TIMEOUT=str(PATIENT_MS),
            CLBIN_REMOTE_SIGN_KEY=str(self.first.folder / "key.key"),
        )
        require(built.returncode == 0 and not warnings_of(built), "the first machine", built.stderr)
        public_key = str(self.first.folder / "key.pub")
        self.run(url, Expected(warnings=0, hits=len(SOURCES)), CLBIN_REMOTE_PUBLIC_KEY=public_key)
        self.run(
            self.nginx.url,
            Expected(warning="a signature is required"),
            CLBIN_REMOTE_PUBLIC_KEY=public_key,
        )
        folder = self.nginx.entries.parent / "signed" / "ac"
        one, other = folder.iterdir()
        content = one.read_bytes(), other.read_bytes()
        one.write_bytes(content[1])
        other.write_bytes(content[0])
        return self.run(url, Expected(warning="another key"), CLBIN_REMOTE_PUBLIC_KEY=public_key)

    def token_required(self):
        """nginx with the line of oclcc-cluster(7) that makes it require a token."""
        server = Nginx(self.nginx.folder / "with_token", self.address, TOKEN)
        server.start()
        try:
            filled, _, _ = self.first.compile(
                [*SOURCES, *TARGETS],
                CLBIN_REMOTE=server.url,
                CLBIN_REMOTE_TIMEOUT=str(PATIENT_MS),
                CLBIN_REMOTE_TOKEN=TOKEN,
            )
            require(
                filled.returncode == 0 and not warnings_of(filled), "with the token", filled.stderr
            )
            self.run(server.url, Expected(warnings=0, hits=len(SOURCES)), CLBIN_REMOTE_TOKEN=TOKEN)
            return self.run(server.url, Expected(warning="the server answered 401"))
        finally:
            server.kill()

    def secrets(self):
        """The token is in no message, no process list and no plan."""
        end_watch = watch_process_list(TOKEN)
        try:
            text = self.answer(
                fault_server.status(403, TOKEN.encode(), [("X-Token", TOKEN)]),
                Expected(warning="the server answered 403"),
                CLBIN_REMOTE_TOKEN=TOKEN,
            )
            for kind in ("json", "ninja", "slurm", "parallel"):
                plan = self.second.folder / f"plan.{kind}"
                ended = self.second.run(
                    f"--plan={kind}",
                    *SOURCES,
                    *TARGETS,
                    "-o",
                    str(plan),
                    CLBIN_REMOTE=self.nginx.url,
                    CLBIN_REMOTE_TOKEN=TOKEN,
                )
                require(ended.returncode == 0, f"the plan for {kind}", ended.stderr)
                files = (
                    [plan]
                    if plan.is_file()
                    else [file for file in plan.rglob("*") if file.is_file()]
                )
                found = [str(file) for file in files if TOKEN.encode() in file.read_bytes()]
                require(
                    not found and TOKEN not in ended.stderr + ended.stdout,
                    "the token is in a plan",
                    found,
                )
        finally:
            found = end_watch()
        require(not found, "the token is in a process list", found)
        return text

    def all_rows(self):
        self.row("built without a remote cache", self.build_without_cache)
        self.row("shared, offline target", lambda: self.share([*SOURCES, *TARGETS], len(SOURCES)))
        device = self.first.quickest_device()
        self.row(
            f"shared, a device ({device})",
            lambda: self.share([*SOURCES, "--device", device], len(SOURCES)),
        )
        self.row("read-only", self.read_only)
        self.row(
            "all entries present",
            lambda: self.run(self.nginx.url, Expected(warnings=0, hits=len(SOURCES))),
        )
        self.row("helper killed", self.helper_killed)
        self.row("helper stopped (SIGSTOP)", self.helper_stopped)
        self.row("server killed", self.killed)
        self.row("server stopped (SIGSTOP)", self.stopped)
        self.row(
            "entries: garbage",
            lambda: self.changed_entries(
                lambda files: {
                    file: random.randbytes(len(content)) for file, content in files.items()
                }
            ),
        )
        self.row(
            "entries: truncated",
            lambda: self.changed_entries(
                lambda files: {file: content[:-1] for file, content in files.items()}
            ),
        )
        self.row(
            "entries: empty",
            lambda: self.changed_entries(lambda files: dict.fromkeys(files, b"")),
        )
        self.row(
            "entries: one bit changed",
            lambda: self.changed_entries(
                lambda files: {
                    file: content[:-9] + bytes([content[-9] ^ 1]) + content[-8:]
                    for file, content in files.items()
                }
            ),
        )
        self.row(
            "entries: swapped",
            lambda: self.changed_entries(
                lambda files: dict(
                    zip(files, [*list(files.values())[1:], next(iter(files.values()))], strict=True)
                )
            ),
        )
        entries = self.entries()
        for name, (fault, expected) in FAULTS.items():
            self.row(
                name, lambda fault=fault, expected=expected: self.answer(fault, expected, entries)
            )
        self.row("answer: redirect to another host", self.redirected)
        self.row("entries: signed, and swapped", self.signed)
        self.row("server requires a token", self.token_required)
        self.row("no secret in messages, processes and plans", self.secrets)


def write_sources(folder):
    folder.mkdir()
    for number, source in enumerate(SOURCES):
        name = source.removesuffix(".cl")
        (folder / source).write_text(
            f'#include "common.clh"\nkernel void {name}(global int *a) {{ a[get_global_id(0)] += TERM + {number}; }}\n'
        )
    (folder / "common.clh").write_text("#define TERM 7\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--oclcc", required=True)
    parser.add_argument("--platforms", required=True)
    arguments = parser.parse_args()
    if not shutil.which("nginx"):
        print("nginx is not installed")
        return 1 if "CI" in os.environ else 77
    enter_namespace()
    with tempfile.TemporaryDirectory(prefix="remote-") as folder, contextlib.ExitStack() as ends:
        scratch = Path(folder)
        write_sources(scratch / "sources")
        address = prepare_servers()
        nginx = Nginx(scratch / "server", address)
        ends.callback(nginx.kill)
        nginx.start()
        machines = []
        for number in (1, 2):
            machine = Machine(
                scratch / f"machine{number}",
                number,
                scratch / "sources",
                os.path.abspath(arguments.oclcc),
                os.path.abspath(arguments.platforms),
            )
            ends.callback(machine.end)
            machines.append(machine)
        table = Table(*machines, nginx, address)
        begin = time.monotonic()
        table.all_rows()
        print(f"{table.failures} failures, {time.monotonic() - begin:.0f} s")
        return 1 if table.failures else 0


if __name__ == "__main__":
    sys.exit(main())
