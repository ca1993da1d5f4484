"""misuse.py SEED BUNDLE: calls the interface with random objects, from several threads.

Prints the number of calls and of exceptions. Fails if the process crashes or hangs, or if a call
raises anything else than an error of an argument, of a file or of clbin.
"""

import contextlib
import gc
import os
import random
import sys
import threading

import clbin

try:
    if os.environ.get("CLBIN_TEST_HIDDEN") == "pyopencl":
        raise ImportError
    import pyopencl as cl

    # Not rusticl, which panics on some options.
    PLATFORMS = [each for each in cl.get_platforms() if each.name == "Oclgrind"]
except ImportError:
    cl, PLATFORMS = None, []
except cl.Error:
    PLATFORMS = []

EXPECTED = (clbin.Error, TypeError, ValueError, OSError, LookupError, ImportError, OverflowError)
if cl is not None:
    EXPECTED += (cl.Error,)
CALLS = 400
SOURCE = "kernel void scale(global float* v, float f) { v[get_global_id(0)] *= f; }\n"


class Objects:
    """Right and wrong objects of every kind."""

    def __init__(self, chance, path):
        self.chance = chance
        self.path = path
        with open(path, "rb") as file:
            self.content = file.read()
        self.contexts = []
        self.devices = []
        for platform in PLATFORMS:
            self.devices += platform.get_devices()[:1]
        self.contexts = [cl.Context([device]) for device in self.devices]
        self.bundles = [clbin.Bundle(self.content)]
        self.builders = [clbin.Builder()]
        self.reports = [clbin.Report()]
        self.programs = []

    def wrong(self):
        return self.chance.choice(
            [None, 0, -1, 2**70, 1.5, "", "\0", "\ud800", b"", b"\xff\0", [], {}, (), object()]
            + [type, self.content[: self.chance.randrange(len(self.content))], float("nan")]
            + ["x" * 1000, ["a", None], {1: 2}, "../..", "/dev/null", "/", memoryview(b"ab")]
        )

    def one_of(self, right, share=0.75):
        if right and self.chance.random() < share:
            return self.chance.choice(right)
        return self.wrong()

    def bundle_source(self):
        damaged = bytearray(self.content)
        for _ in range(self.chance.randrange(4)):
            damaged[self.chance.randrange(len(damaged))] ^= 1 << self.chance.randrange(8)
        return self.one_of([self.content, self.path, damaged, memoryview(damaged)])

    def name(self):
        return self.one_of(["scale", "other", "default", "scale "])

    def options(self):
        return self.one_of(["", "-DA=1", ["-DA=1", "-DB"], '-D"', None, "-I/nowhere", "-cl-x"])

    def for_driver(self, context, right, any_value):
        """Oclgrind crashes in a build that follows one with wrong options or source."""
        return right if any(context is each for each in self.contexts) else any_value

    def source(self):
        texts = [SOURCE, SOURCE.encode(), "#error\n", "", '#include "x"\n', "\0" + SOURCE]
        return self.one_of([*texts, b"\x03\x02\x23\x07" + bytes(40), SOURCE + "//\ud800"])


def use_bundle(objects):
    chance = objects.chance
    bundle = objects.one_of(objects.bundles, 1)
    report = objects.one_of([*objects.reports, None], 0.9)
    identity = objects.one_of([clbin.Identity(), clbin.Identity(device_name=objects.wrong())])
    context = objects.one_of(objects.contexts)
    options = objects.for_driver(context, objects.one_of(["-DA=1", None], 1), objects.options())
    return chance.choice(
        [
            bundle.verify,
            bundle.json,
            bundle.close,
            bundle.__enter__,
            lambda: bundle.programs,
            lambda: bundle.entries,
            lambda: bundle.is_current,
            lambda: bundle.counter,
            lambda: repr(bundle),
            lambda: bundle.select(identity, objects.name(), objects.name()),
            lambda: objects.programs.append(
                bundle.load(
                    context,
                    objects.one_of([*objects.devices, objects.devices, None]),
                    objects.name(),
                    variant=objects.one_of(["default", None]),
                    options=options,
                    constants=objects.one_of([None, {1: b"a"}, {"a": 1}], 0.95),
                    fallback=objects.one_of([0, 1, 2], 0.95),
                    report=report,
                )
            ),
        ]
    )


def use_builder(objects):
    chance = objects.chance
    builder = objects.one_of(objects.builders, 1)
    context = objects.one_of(objects.contexts, 0.9)
    source = objects.for_driver(context, SOURCE, objects.source())
    options = objects.for_driver(context, "-DA=1", objects.options())
    return chance.choice(
        [
            builder.close,
            lambda: builder.add_bundle(objects.one_of(objects.bundles)),
            lambda: objects.programs.append(builder.build(context, source, options)),
            lambda: objects.programs.append(clbin.build(context, source, label=objects.name())),
        ]
    )


def use_other(objects):
    chance = objects.chance
    report = objects.one_of(objects.reports, 1)
    return chance.choice(
        [
            lambda: objects.bundles.append(clbin.Bundle(objects.bundle_source())),
            lambda: objects.bundles.append(
                clbin.Bundle(objects.content, max_memory_bytes=objects.wrong())
            ),
            lambda: objects.bundles.append(
                clbin.Bundle(objects.content, key=objects.wrong(), decrypted_builds=objects.wrong())
            ),
            lambda: objects.builders.append(
                clbin.Builder(
                    cache=chance.choice([True, False, None]), cache_max_bytes=objects.wrong()
                )
            ),
            lambda: objects.builders.append(clbin.Builder(cache_dir=objects.wrong())),
            lambda: objects.reports.append(clbin.Report()),
            lambda: clbin.identity(objects.one_of(objects.devices)),
            lambda: (str(report), repr(report), report.attempts, report.json(), report.warnings),
            lambda: objects.programs.clear(),
            gc.collect,
        ]
    )


def play(objects, calls, results):
    for _ in range(calls):
        call = objects.chance.choice([use_bundle, use_builder, use_other])(objects)
        try:
            call()
            results.append(None)
        except EXPECTED as error:
            results.append(error)
        except BaseException as error:
            print(f"unexpected: {type(error).__name__}: {error}", file=sys.stderr)
            os._exit(1)
        if len(objects.bundles) > 6:
            objects.bundles.pop(objects.chance.randrange(1, len(objects.bundles)))
        if len(objects.builders) > 3:
            objects.builders.pop(0)
        if all(each.closed for each in objects.bundles):
            objects.bundles.append(clbin.Bundle(objects.content))


def main():
    seed, path = int(sys.argv[1]), sys.argv[2]
    results = []
    objects = Objects(random.Random(seed), path)
    play(objects, CALLS // 2, results)
    # Two threads on the same bundles and builders, without drivers that need one thread.
    objects.contexts, objects.devices = [], []
    threads = [threading.Thread(target=play, args=(objects, CALLS // 4, results)) for _ in range(2)]
    with contextlib.suppress(IndexError):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    failures = sum(result is not None for result in results)
    print(f"{len(results)} calls, {failures} exceptions")


main()
