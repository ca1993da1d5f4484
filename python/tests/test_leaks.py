"""The memory of a process that repeats calls. conftest.py counts objects in every other test."""

import sys
import textwrap

import pytest
from test_lifetimes import run, run_loaded

MEASURE = """
    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * 4096
    def measure(use, count):
        for _ in range(count):
            use()
        gc.collect()
        before = resident()
        for _ in range(3 * count):
            use()
        gc.collect()
        grown = resident() - before
        assert grown < 2_000_000, grown
"""


def test_memory_does_not_grow_without_a_driver(offline_bundle, tmp_path):
    if sys.implementation.name == "pypy":
        pytest.skip("PyPy's heap grows before it collects")
    path = tmp_path / "k.clbin"
    path.write_bytes(offline_bundle)
    code = """
        import gc, sys
        import clbin
        content = open(sys.argv[1], "rb").read()
        def use():
            for source in (content, sys.argv[1]):
                with clbin.Bundle(source) as bundle:
                    bundle.verify(), bundle.programs, bundle.json()
                    try:
                        bundle.select(clbin.Identity(), "scale")
                    except clbin.SelectionError:
                        pass
            try:
                clbin.Bundle(content[:-1])
            except clbin.BundleError:
                pass
            clbin.Builder(cache=False).close()
            clbin.Report()
    """
    run(textwrap.dedent(code) + textwrap.dedent(MEASURE) + "measure(use, 300)\n", str(path))


def test_memory_does_not_grow_by_loads_that_fail(device, scale_bundle):
    """Loads that succeed grow the memory of some drivers."""
    code = """
        def use():
            report = clbin.Report()
            try:
                bundle.load(context, device, "other", report=report)
            except clbin.SelectionError as error:
                str(error.report), error.report.attempts
    """
    run_loaded(
        textwrap.dedent(code) + textwrap.dedent(MEASURE) + "measure(use, 500)\n",
        device,
        scale_bundle,
    )
