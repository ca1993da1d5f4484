"""Runs one of PyOpenCL's examples with clbin.build in the place of pyopencl.Program.build.

    run_example.py EXAMPLE

Prints as its last line how many programs clbin.build has built. Programs that are created from a
binary or from IL have no source that clbin.build could build; PyOpenCL builds them.
"""

import os
import runpy
import sys

import pyopencl as cl

import clbin

original_build = cl.Program.build
built_programs = []


def build(program, options=None, devices=None, cache_dir=None):
    """Replaces pyopencl.Program.build, which returns the program that it has built."""
    source = getattr(program, "_source", None)
    if source is None:
        return original_build(program, options or [], devices, cache_dir)
    built = clbin.build(program._context, source, options, devices)
    built_programs.append(built)
    program._prg = built._prg if hasattr(built, "_prg") else built
    return program


cl.Program.build = build
sys.argv = sys.argv[1:]
sys.path[0] = os.path.dirname(sys.argv[0])
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
except SystemExit as end:  # pytest's
    if end.code not in (None, 0):
        raise
print("clbin.build:", len(built_programs))
