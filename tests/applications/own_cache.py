#!/usr/bin/env python3
"""Runs PyOpenCL, whose own cache is on, through libclbin_layer.so: a recording is complete although
that cache is warm, and serves if that cache is off. Otherwise PyOpenCL loads its own binaries, or
builds a source that no other cache can contain (libclbin_layer(7)).

usage: own_cache.py PLATFORM.icd --layer LIB --oclcc OCLCC
Exits with 77 and prints why if PyOpenCL is not installed, fails without the layer, or does not use
its cache.
"""

import argparse
import sys

import applications
from application_check import add_arguments, check_application
from applications import APPLICATIONS, Caches, run, skip


class OwnCache:
    def __init__(self, application, options):
        self.options = options
        self.caches = Caches(options.platform)
        self.command = applications.command_of(application, programs="")
        self.without_own_cache = self.caches.environment()
        self.environment = {
            name: value
            for name, value in self.without_own_cache.items()
            if name != "PYOPENCL_NO_CACHE"
        }
        self.failures = []

    def run(self, folder):
        self.warm_without_the_layer()
        self.record(f"{folder}/app.clbin")
        self.serve(f"{folder}/app.clbin")

    def compare(self, what, result, expected):
        if result.status != 0 or result.output != expected:
            self.failures.append(
                f"{what}: exit status {result.status}: {result.output}"
                f"\n  standard error: {result.errors}"
            )

    def through(self, what, outcomes, environment, mode, bundle, expected):
        """Requires the number of builds that the layer reports for each word."""
        result = run(self.command, environment, self.options.layer, mode, [bundle])
        self.compare(what, result, expected)
        found = {word: len(result.outcomes(word)) for word in outcomes}
        if found != outcomes:
            self.failures.append(f"{what}: {found} instead of {outcomes}\n  log: {result.log}")
        return result

    def warm_without_the_layer(self):
        first = run(self.command, self.environment)
        if first.status != 0:
            skip(f"fails without the layer, too: exit status {first.status}: {first.errors[-300:]}")
        self.built = first.output
        # A program of PyOpenCL's cache has no source.
        self.loaded = run(self.command, self.environment).output
        if self.loaded == self.built:
            skip("PyOpenCL does not use its own cache here")  # 2025.1 on PoCL 6

    def record(self, bundle):
        command = [self.options.oclcc, "--record", bundle, "--record-binaries", "--", *self.command]
        variables = {"CLBIN_LAYER_LIBRARY": self.options.layer}
        self.compare("recorded", run(command, self.environment | variables), self.built)

    def serve(self, bundle):
        self.through(
            "own cache warm",
            {"served": 0, "built": 0},
            self.environment,
            "strict",
            bundle,
            self.loaded,
        )
        off = self.through(
            "own cache off", {"built": 0}, self.without_own_cache, "strict", bundle, self.built
        )
        count = max(1, len(off.outcomes("served")))
        self.caches.empty("driver")
        self.through(
            "own cache cold",
            {"served": 0, "built": count},
            self.environment,
            "serve",
            bundle,
            self.built,
        )


def main():
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    application = next(known for known in APPLICATIONS if known.name == "pyopencl")
    return check_application(OwnCache, application, parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
