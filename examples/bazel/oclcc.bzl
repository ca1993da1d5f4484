"""Rules that compile OpenCL kernels with oclcc, which must be in PATH.

    load(":oclcc.bzl", "oclcc_bundle", "oclcc_embedded_bundle")

    oclcc_bundle(name = "kernels", srcs = ["a.cl", "b.cl"], hdrs = ["common.h"],
                 targets = ["nvptx:sm_50", "spirv:1.2"], copts = ["-DTILE=16"])

With targets, no device is needed, and the result has the same bytes on every machine with the same
compilers. Without, oclcc compiles for the devices of the machine that builds.
"""

def _compile(ctx, outputs, words):
    args = ctx.actions.args()
    args.add_all(ctx.files.srcs)
    args.add_all(ctx.attr.targets, before_each = "--target")
    args.add_all(ctx.attr.copts)
    args.add("--no-cache")  # Bazel keeps results itself
    args.add_all(words)
    ctx.actions.run_shell(
        command = "exec oclcc \"$@\"",
        arguments = [args],
        inputs = ctx.files.srcs + ctx.files.hdrs,
        outputs = outputs,
        mnemonic = "Oclcc",
        progress_message = "Compiling kernels of %{label}",
        use_default_shell_env = True,
    )

def _oclcc_bundle_impl(ctx):
    bundle = ctx.actions.declare_file(ctx.label.name + ".clbin")
    _compile(ctx, [bundle], ["-o", bundle])
    files = depset([bundle])
    return [DefaultInfo(files = files, runfiles = ctx.runfiles(transitive_files = files))]

def _oclcc_embedded_bundle_impl(ctx):
    source = ctx.actions.declare_file(ctx.label.name + ".c")
    header = ctx.actions.declare_file(ctx.label.name + ".h")
    _compile(ctx, [source, header], ["-o", source, "--embed-header", header])
    return [DefaultInfo(files = depset([source, header]))]

_ATTRIBUTES = {
    "srcs": attr.label_list(allow_files = [".cl", ".spv"], mandatory = True),
    "hdrs": attr.label_list(allow_files = True, doc = "what the sources include"),
    "targets": attr.string_list(doc = "as --target; none: the devices of the machine"),
    "copts": attr.string_list(doc = "as for clBuildProgram, and other options of oclcc(1)"),
}

oclcc_bundle = rule(
    implementation = _oclcc_bundle_impl,
    doc = "NAME.clbin: a bundle, as data of a program.",
    attrs = _ATTRIBUTES,
)

oclcc_embedded_bundle = rule(
    implementation = _oclcc_embedded_bundle_impl,
    doc = "NAME.c and NAME.h: a bundle in C, as srcs of a cc_library or cc_binary.",
    attrs = _ATTRIBUTES,
)
