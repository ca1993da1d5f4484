"""Runs oclcc, sends it a signal at some moment, and returns what is left of the run."""

import math
import os
import random
import signal
import subprocess
import time

MARK = f"OCLCC_TEST_MARK={os.getpid()}"
PATIENCE_SECONDS = 20  # enough for a loaded machine; wait_until_nothing_is_left() returns earlier


def start(words, **options):
    name, value = MARK.split("=")

    def heed_the_signals():  # a shell that starts this in the background ignores SIGINT
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)

    return subprocess.Popen(
        ["oclcc", *words],
        env={**os.environ, name: value},
        preexec_fn=heed_the_signals,
        stderr=subprocess.PIPE,
        **options,
    )


def survivors():
    """Returns the processes of this test that still exist, including guards and workers."""
    found = []
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{number}/environ", "rb") as file:
                environment = file.read()
            if MARK.encode() in environment.split(b"\0"):
                with open(f"/proc/{number}/comm", encoding="utf-8") as file:
                    found.append(f"{number} ({file.read().strip()})")
        except OSError:
            pass
    return found


def leftovers():
    return os.listdir(os.environ["TMPDIR"])


def wait_until_nothing_is_left():
    end = time.monotonic() + PATIENCE_SECONDS
    while (left := survivors() + leftovers()) and time.monotonic() < end:
        time.sleep(0.01)
    return left


def run_and_signal(words, number, seconds):
    """Returns the return code, the output, and the seconds that it ran: infinity if it was signalled."""
    process = start(words)
    begin, ran = time.monotonic(), math.inf
    try:
        process.wait(seconds)
        ran = time.monotonic() - begin
    except subprocess.TimeoutExpired:
        process.send_signal(number)
    _, printed = process.communicate()
    return process.returncode, printed.decode(), ran


def duration(words):
    begin = time.monotonic()
    process = start(words)
    process.communicate()
    assert process.returncode == 0
    return time.monotonic() - begin


def fractions(count):
    """Returns fractions of a run's duration, one in each of `count` equal parts of it, in a random
    order. They are the same in every run of the test."""
    generator = random.Random(1)
    moments = [(part + generator.uniform(0, 1)) / count for part in range(count)]
    generator.shuffle(moments)
    return moments
