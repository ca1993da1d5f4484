#!/usr/bin/env python3
"""Measures unchanged applications, from process start to exit, in fresh processes: without the layer,
and through libclbin_layer.so.

    bench/application_start.py BUILD_DIR [--platform NAME] [--application NAME] [--rounds N]

Every round starts each way once, so that all run under the same conditions. Prints medians of wall
and processor time, and the ratio of the first way to each other way:
  source         without the layer, every cache is empty
  driver's cache without the layer, the driver's and the application's own caches are warm
  cold           mode cache, every cache is empty
  warm           mode cache, the user cache is warm, the driver's is empty
  served         mode serve, from a recording with binaries; every cache is empty
A way whose output differs from that of `source` is an error.
"""

import argparse
import os
import statistics
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "applications"))

import applications  # noqa: E402 (the folder is known only now)

WAYS = ("source", "driver's cache", "cold", "warm", "served")


class Subject:
    """One application on one platform."""

    def __init__(self, application, platform, build):
        self.application = application
        self.caches = applications.Caches(platform)
        self.environment = self.caches.environment() | application.variables
        self.command = applications.command_of(application, build / "tests" / "applications")
        self.layer = build / "libclbin" / "libclbin_layer.so"
        self.oclcc = build / "oclcc" / "oclcc"
        self.recording = self.caches.folder / "app.clbin"
        self.expected = None
        self.times = {way: [] for way in WAYS}

    def record(self):
        command = [
            str(self.oclcc),
            "--record",
            str(self.recording),
            "--record-binaries",
            "--",
            *self.command,
        ]
        environment = self.environment | {"CLBIN_LAYER_LIBRARY": str(self.layer)}
        result = applications.run(command, environment)
        if result.status != 0:
            raise RuntimeError(f"oclcc --record: exit status {result.status}: {result.errors}")
        self.caches.empty("driver")
        self.caches.empty("clbin")

    def measure(self, way, **options):
        before = os.times()
        start = time.perf_counter()
        result = applications.run(self.command, self.environment, **options)
        wall = time.perf_counter() - start
        after = os.times()
        answer = self.application.answer(result.output)
        if result.status != 0 or (self.expected is not None and answer != self.expected):
            raise RuntimeError(
                f"{way}: exit status {result.status}: {result.errors}{result.output}"
            )
        self.expected = answer
        processor = (
            after.children_user
            + after.children_system
            - before.children_user
            - before.children_system
        )
        self.times[way].append((wall, processor))

    def round(self):
        for kind in ("driver", "clbin"):
            self.caches.empty(kind)
        self.measure("source")
        self.measure("driver's cache")
        self.caches.empty("driver")
        self.measure("cold", layer=self.layer)
        self.caches.empty("driver")
        self.measure("warm", layer=self.layer)
        self.caches.empty("driver")
        self.caches.empty("clbin")
        self.measure("served", layer=self.layer, mode="serve", bundles=[self.recording])

    def report(self, platform):
        print(f"\n{self.application.name} on {platform.stem}")
        print(f"{'':16}{'wall s':>9}{'ratio':>8}{'processor s':>13}{'ratio':>8}")
        medians = {
            way: [statistics.median(column) for column in zip(*times)]
            for way, times in self.times.items()
        }
        for way, (wall, processor) in medians.items():
            first_wall, first_processor = medians["source"]
            print(
                f"{way:16}{wall:9.3f}{first_wall / wall:8.2f}{processor:13.3f}"
                f"{first_processor / processor:8.2f}"
            )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=Path)
    parser.add_argument("--platform", action="append", default=[])
    parser.add_argument("--application", action="append", default=[])
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    build = options.build.resolve()
    failed = False
    for application in applications.APPLICATIONS:
        if options.application and application.name not in options.application:
            continue
        if reason := applications.why_missing(application, build / "tests" / "applications"):
            print(f"{application.name} is skipped: {reason}")
            continue
        for platform in applications.platform_files(build / "platforms"):
            if options.platform and platform.stem not in options.platform:
                continue
            subject = Subject(application, platform, build)
            try:
                subject.record()
                for _ in range(options.rounds):
                    subject.round()
                subject.report(platform)
            except (RuntimeError, OSError) as error:
                failed = True
                print(f"\n{application.name} on {platform.stem} failed: {error}")
            finally:
                subject.caches.remove()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
