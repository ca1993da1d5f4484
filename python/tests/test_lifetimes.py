"""The end of objects, of processes and of their parents. Each test runs a process of its own."""

import textwrap

from conftest import run

LOADED = """
    import gc, os, sys, threading
    import clbin
    import pyopencl as cl
    path, name = sys.argv[1:3]
    device = next(d for p in cl.get_platforms() if p.name == name for d in p.get_devices())
    context = cl.Context([device])
    bundle = clbin.Bundle(path)
    program = bundle.load(context, device, "scale")
"""


def run_loaded(code, device, scale_bundle, *arguments):
    both = textwrap.dedent(LOADED) + textwrap.dedent(code)
    return run(both, str(scale_bundle), device.platform.name, *arguments)


ORDERS = [
    "del context; gc.collect(); del program; gc.collect(); bundle.close()",
    "bundle.close(); del bundle; del program; gc.collect()",
    "kernel = program.scale; del program, bundle, context; gc.collect(); kernel.num_args",
    "report = clbin.Report(); bundle.load(context, device, 'scale', report=report);"
    " del bundle, context, program; gc.collect(); str(report)",
    "builder = clbin.Builder(); builder.add_bundle(bundle); bundle.close(); del bundle",
    "cycle = [bundle, program, context]; cycle.append(cycle); del bundle, program, context",
]


def test_objects_end_in_any_order(device, scale_bundle):
    code = """
        for order in sys.argv[3:]:
            context = cl.Context([device])
            bundle = clbin.Bundle(path)
            program = bundle.load(context, device, "scale")
            names = {**globals()}
            del context, bundle, program
            exec(order, names)
            del names
    """
    run_loaded(code, device, scale_bundle, *ORDERS)


def test_objects_exist_when_the_interpreter_ends(device, scale_bundle):
    code = """
        builder = clbin.Builder()
        builder.add_bundle(bundle)
        cycle = [builder, bundle, program, context]
        cycle.append(cycle)
        sys.exit(0)
    """
    run_loaded(code, device, scale_bundle)


def test_a_thread_may_use_a_bundle_while_the_interpreter_ends(offline_bundle, tmp_path):
    path = tmp_path / "k.clbin"
    path.write_bytes(offline_bundle)
    code = """
        import sys, threading, time
        import clbin
        bundle = clbin.Bundle(sys.argv[1])
        def use():
            try:
                while True:
                    bundle.verify()
            except clbin.Error:
                pass  # it is closed; Python aborts if a thread prints at this moment
        for _ in range(4):
            threading.Thread(target=use, daemon=True).start()
        time.sleep(0.05)
    """
    for _ in range(5):
        run(code, str(path))


def test_a_program_is_in_the_cache_after_the_process_has_ended(device, scale_bundle):
    code = """
        report = clbin.Report()
        bundle.load(context, device, "scale", options="-DN=1", report=report)
        print(report.origin.name)
    """
    assert run_loaded(code, device, scale_bundle) == "SOURCE\n"
    expected = "SOURCE\n" if "Portable" in device.platform.name else "USER_CACHE\n"
    assert run_loaded(code, device, scale_bundle) == expected


def test_a_forked_child_uses_and_closes_the_bundle_of_its_parent(offline_bundle, tmp_path):
    """Another thread of the parent holds the lock of the bundle while it forks."""
    path = tmp_path / "k.clbin"
    path.write_bytes(offline_bundle)
    code = """
        import os, sys, threading
        import clbin
        bundle = clbin.Bundle(sys.argv[1])
        builder = clbin.Builder()
        builder.add_bundle(bundle)
        is_held, stop = threading.Event(), threading.Event()
        def hold():
            with bundle._handle._lock:
                is_held.set()
                stop.wait()
        thread = threading.Thread(target=hold)
        thread.start()
        is_held.wait()
        child = os.fork()
        if child == 0:
            assert list(bundle.programs) == ["scale"]
            bundle.close()
            builder.close()
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        stop.set()
        thread.join()
        child = os.fork()
        if child == 0:
            sys.exit(0)  # runs what the interpreter runs at its end
        assert os.waitpid(child, 0)[1] == 0
        bundle.verify()
        bundle.close()
    """
    run(code, str(path))


def test_a_forked_child_loads_with_the_bundle_of_its_parent(device, scale_bundle):
    """The parent has opened the bundle, but has not started a driver."""
    code = """
        import os, sys
        import clbin
        path, name = sys.argv[1:3]
        bundle = clbin.Bundle(path)
        child = os.fork()
        if child == 0:
            import pyopencl as cl
            devices = (d for p in cl.get_platforms() if p.name == name for d in p.get_devices())
            device = next(devices)
            context = cl.Context([device])
            report = clbin.Report()
            bundle.load(context, device, "scale", options="-DN=2", report=report)
            bundle.close()
            os._exit(0 if report.origin == clbin.Origin.SOURCE else 1)
        assert os.waitpid(child, 0)[1] == 0
    """
    run(code, str(scale_bundle), device.platform.name)


def test_a_forked_child_rejects_what_another_thread_was_using(offline_bundle, tmp_path):
    """A lock of libclbin could belong to that thread, which does not exist in the child."""
    path = tmp_path / "k.clbin"
    path.write_bytes(offline_bundle)
    code = """
        import os, sys, threading
        import clbin
        bundle, other = clbin.Bundle(sys.argv[1]), clbin.Bundle(sys.argv[1])
        builder = clbin.Builder()
        builder.add_bundle(bundle)
        is_used, stop = threading.Event(), threading.Event()
        def use():
            with bundle._handle:
                is_used.set()
                stop.wait()
        thread = threading.Thread(target=use)
        thread.start()
        is_used.wait()
        with other._handle:  # this thread exists in the child
            child = os.fork()
        if child == 0:
            other.verify()
            for used, name in (bundle, "bundle"), (builder, "builder"):
                try:
                    with used:
                        print("used")
                except clbin.ClosedError as error:
                    assert str(error) == (
                        f"another thread was using the {name} when this process was forked")
                used.close()
            assert bundle.closed and builder.closed
            sys.exit(0)
        assert os.waitpid(child, 0)[1] == 0
        stop.set()
        thread.join()
        bundle.verify()
    """
    assert run(code, str(path)) == ""


def test_import_starts_no_driver_and_imports_no_pyopencl():
    code = """
        import sys
        import clbin
        assert "pyopencl" not in sys.modules and "numpy" not in sys.modules
        assert "dataclasses" not in sys.modules and "subprocess" not in sys.modules
        assert "libOpenCL" not in open("/proc/self/maps").read()
    """
    run(code)
