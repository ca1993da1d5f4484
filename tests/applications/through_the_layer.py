#!/usr/bin/env python3
"""Runs one application on one platform without the layer, and through it: with empty caches, with a
warm user cache, recorded, from the recording in mode strict and, on Oclgrind, in mode serve; with
--il, also from the recording compiled to SPIR-V; with --compile, from the recording compiled for PoCL,
which then compiles nothing at a first launch. All print the same.

usage: through_the_layer.py APPLICATION PLATFORM.icd --layer LIB --oclcc OCLCC --programs FOLDER
                            [--il TARGET] [--compile]
Exits with 77 and prints why if the application is not installed, or fails without the layer.
"""

import argparse
import sys

import applications
from application_check import add_arguments, check_application
from applications import APPLICATIONS, Caches, run, skip

# What PoCL prints with POCL_DEBUG=general for the first launch of a kernel with a size.
LAUNCH_COMPILED = "Built a specialized WG function"
LAUNCH_FOUND = "Using a cached WG function"


class Check:
    def __init__(self, application, options):
        self.application = application
        self.options = options
        self.caches = Caches(options.platform)
        self.command = applications.command_of(application, options.programs)
        self.environment = self.caches.environment() | application.variables
        # Runs that build the sources share a cache of PoCL's, which the layer does not see.
        self.building = {"POCL_CACHE_DIR": str(self.caches.folder / "built")}
        self.failures = []

    def run(self, folder):
        self.without_the_layer()
        self.cached()
        self.recorded(f"{folder}/app.clbin")
        if self.options.compile:
            self.compiled(f"{folder}/app.clbin", f"{folder}/compiled.clbin")
        if self.options.il:
            self.built_from_il(f"{folder}/app.clbin", f"{folder}/il.clbin")

    def require(self, condition, text, result):
        if not condition:
            self.failures.append(f"{text}\n  log: {result.log}\n  standard error: {result.errors}")

    def without_the_layer(self):
        debug = {"POCL_DEBUG": "general"} if self.options.compile else {}
        result = run(self.command, self.environment | self.building | debug)
        if result.status != 0:
            skip(
                f"fails without the layer, too: exit status {result.status}: {result.errors[-300:]}"
            )
        self.require(
            LAUNCH_COMPILED in result.errors or not debug, "PoCL tells of no compilation", result
        )
        self.expected = self.application.answer(result.output)

    def compare(self, what, result):
        self.require(result.status == 0, f"{what}: exit status {result.status}", result)
        answer = self.application.answer(result.output)
        self.require(
            answer == self.expected,
            f"{what}: printed\n{answer}\ninstead of\n{self.expected}",
            result,
        )

    def through(self, what, mode="cache", bundles=(), variables=None):
        self.caches.empty("driver")
        environment = self.environment | (variables or {})
        result = run(self.command, environment, self.options.layer, mode, bundles)
        self.compare(what, result)
        return result

    def cached(self):
        cold = self.through("cold", variables=self.building)
        self.skip_if_it_only_links(cold)
        self.require(cold.outcomes("built"), "cold: nothing was built", cold)
        warm = self.through("warm")
        built = warm.outcomes("built")
        if self.options.platform.stem == "pocl" and self.application.unlaunched:
            # PoCL's binaries are stored after launches.
            built = [line for line in built if f"'{self.application.unlaunched}'" not in line]
        self.require(not built, "warm: something was built", warm)
        self.require(warm.outcomes("served"), "warm: nothing was served", warm)

    def skip_if_it_only_links(self, cold):
        """hashcat does on NVIDIA's platform. The layer passes such builds on, and gives the same
        results (compared by the caller); mode strict refuses them."""
        if cold.log or self.failures:
            return
        self.caches.empty("driver")
        refused = run(self.command, self.environment, self.options.layer, "strict")
        if any("CL_COMPILE_PROGRAM_FAILURE" in line for line in refused.outcomes("refused")):
            skip("it compiles and links its programs separately here, which is not cached")

    def recorded(self, bundle):
        self.caches.empty("driver")
        command = [self.options.oclcc, "--record", bundle, "--record-binaries", "--", *self.command]
        variables = {"CLBIN_LAYER_LIBRARY": self.options.layer}
        environment = self.environment | self.building | variables
        self.compare("recorded", run(command, environment))
        self.caches.empty("clbin")
        # Oclgrind is the fastest, and the modes differ in what the layer does if a bundle has nothing.
        serve = ("serve",) if self.options.platform.stem == "oclgrind" else ()
        for mode in (*serve, "strict"):
            result = self.through(f"mode {mode}", mode, [bundle])
            self.require(not result.outcomes("built"), f"mode {mode}: something was built", result)
            self.require(result.outcomes("served"), f"mode {mode}: nothing was served", result)

    def compiled(self, recording, bundle):
        """Compiles the recording, which replaces its binaries. PoCL itself tells whether it compiles
        for a launch or finds the code (doc/drivers.md)."""
        self.caches.empty("driver")
        made = run([self.options.oclcc, recording, "-o", bundle], self.environment)
        self.require(made.status == 0, f"compile: exit status {made.status}", made)
        served = self.through("compiled", "strict", [bundle], {"POCL_DEBUG": "general"})
        self.require(LAUNCH_FOUND in served.errors, "compiled: nothing was launched", served)
        self.require(LAUNCH_COMPILED not in served.errors, "compiled: a launch compiled", served)

    def built_from_il(self, recording, bundle):
        """Compiles the recording, and removes its binaries, which would serve first."""
        self.caches.empty("clbin")
        made = run(
            [self.options.oclcc, recording, "--target", self.options.il, "-o", bundle],
            self.environment,
        )
        self.require(made.status == 0, f"{self.options.il}: exit status {made.status}", made)
        made = run(
            [self.options.oclcc, "--strip", bundle, "--keep-target", self.options.il, "-o", bundle],
            self.environment,
        )
        self.require(made.status == 0, f"strip: exit status {made.status}", made)
        result = self.through("IL", bundles=[bundle])
        self.require(not result.outcomes("built: "), "IL: source was built", result)
        self.require(result.outcomes("built from the IL"), "IL: nothing was built from IL", result)
        result = self.through("IL, warm", bundles=[bundle])
        self.require(not result.outcomes("built"), "IL, warm: something was built", result)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("application")
    add_arguments(parser)
    parser.add_argument("--programs", required=True)
    parser.add_argument("--il")
    parser.add_argument("--compile", action="store_true")
    options = parser.parse_args()
    application = next(known for known in APPLICATIONS if known.name == options.application)
    return check_application(Check, application, options, options.programs)


if __name__ == "__main__":
    sys.exit(main())
