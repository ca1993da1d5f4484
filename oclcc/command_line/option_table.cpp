#include "command_line/option_table.hpp"

#include "command_line/option_effects.hpp"

namespace oclcc {

namespace {

using Group = OptionGroup;
using Form = OptionForm;

struct Scope {
  static constexpr OptionScope compile = scope_of(Mode::compile);
  // Compiles and plans, whose units are compiled later.
  static constexpr OptionScope sources = scope_of(Mode::compile, Mode::plan);
  static constexpr OptionScope sources_or_rebuild = sources | k_rebuilt_bundle;
  static constexpr OptionScope plan = scope_of(Mode::plan);
  static constexpr OptionScope compile_or_embed = compile | k_bundle_input;
  static constexpr OptionScope compile_or_rebuild = compile | k_rebuilt_bundle;
  static constexpr OptionScope compile_or_bundle = compile | k_bundle_input | k_rebuilt_bundle;
  static constexpr OptionScope strip = scope_of(Mode::strip);
  static constexpr OptionScope compile_or_list =
      scope_of(Mode::compile, Mode::list_devices, Mode::plan) | k_rebuilt_bundle;
  static constexpr OptionScope offline =
      scope_of(Mode::compile, Mode::list_targets, Mode::identity, Mode::plan) | k_rebuilt_bundle;
  static constexpr OptionScope writing =
      scope_of(Mode::compile, Mode::plan, Mode::strip, Mode::merge, Mode::repack, Mode::extract,
               Mode::sign, Mode::sign_message, Mode::strip_signature, Mode::encrypt,
               Mode::decrypt) |
      k_bundle_input | k_rebuilt_bundle;
  static constexpr OptionScope reporting =
      scope_of(Mode::info, Mode::list_devices, Mode::list_targets, Mode::identity, Mode::verify,
               Mode::diff, Mode::strip, Mode::merge, Mode::repack, Mode::extract, Mode::cache_stats,
               Mode::explain, Mode::sign, Mode::strip_signature, Mode::encrypt, Mode::decrypt);
  static constexpr OptionScope compile_or_extract =
      scope_of(Mode::compile, Mode::plan, Mode::extract);
  static constexpr OptionScope choosing = scope_of(Mode::strip, Mode::extract);
  static constexpr OptionScope verify = scope_of(Mode::verify);
  static constexpr OptionScope running =
      scope_of(Mode::compile, Mode::verify, Mode::explain) | k_rebuilt_bundle;
  static constexpr OptionScope calling =
      scope_of(Mode::compile, Mode::plan, Mode::list_devices, Mode::verify, Mode::explain) |
      k_rebuilt_bundle;
  static constexpr OptionScope keygen = scope_of(Mode::keygen);
  static constexpr OptionScope sign = scope_of(Mode::sign);
  static constexpr OptionScope sign_or_compile = scope_of(Mode::sign) | compile_or_rebuild;
  static constexpr OptionScope passphrase = scope_of(Mode::keygen) | sign_or_compile;
  static constexpr OptionScope counter = scope_of(Mode::sign_message) | sign_or_compile;
  static constexpr OptionScope trusting = scope_of(Mode::verify) | sign_or_compile;
  static constexpr OptionScope detaching = scope_of(Mode::verify, Mode::sign);
  static constexpr OptionScope encrypting =
      scope_of(Mode::encrypt, Mode::merge, Mode::repack, Mode::strip) | compile_or_rebuild;
  // Every mode that reads the contents of bundles.
  static constexpr OptionScope decrypting =
      scope_of(Mode::info, Mode::explain, Mode::verify, Mode::diff, Mode::extract, Mode::merge,
               Mode::repack, Mode::strip, Mode::record, Mode::sign, Mode::sign_message,
               Mode::encrypt, Mode::decrypt) |
      compile_or_bundle;
  static constexpr OptionScope record = scope_of(Mode::record);
  static constexpr OptionScope any = ~0U;
};

// In the order of --help.
constexpr OptionRow k_option_table[] = {
    {Group::output, Form::value, Scope::writing, 'o', "output", "FILE",
     "write the output to FILE; \"-\" is standard output\n"
     "(default: the program's name + \".clbin\"; required\n"
     "for several inputs). The suffix of FILE selects the\n"
     "output: .ptx, .cubin, .spv or .bin: the binary of\n"
     "the one device; .h, .c, .o or .s: the bundle,\n"
     "embedded in a C header, C source, an object file or\n"
     "assembly; .hpp: C++ launchers; otherwise the bundle.\n"
     "If the input is a bundle, embedding and launchers\n"
     "convert it; otherwise, its programs are built anew",
     set_value<&Options::output>},
    {Group::output, Form::value, Scope::compile_or_bundle, '\0', "emit", "KIND",
     "select the output, regardless of its suffix: clbin,\n"
     "ptx, cubin, spv, bin, h, c, o, s or hpp",
     apply_emit},
    {Group::output, Form::value, Scope::compile_or_embed, '\0', "symbol", "NAME",
     "name an embedded bundle NAME in C and its size\n"
     "NAME_size (default: the output's stem + \"_clbin\")",
     apply_symbol},
    {Group::output, Form::value, Scope::compile_or_embed, '\0', "embed-header", "FILE",
     "with -o k.c, k.o or k.s: also write FILE, a header\n"
     "that declares the embedded bundle",
     set_value<&Options::embed_header>},
    {Group::output, Form::value, Scope::compile_or_embed, '\0', "host-triple", "TRIPLE",
     "with -o k.o or k.s: write it for the machine TRIPLE,\n"
     "such as aarch64-linux-gnu (default: this machine)",
     apply_host_triple},
    {Group::output, Form::value, Scope::compile_or_extract, '\0', "program", "NAME=FILE",
     "compile FILE as program NAME (default: the stem of\n"
     "FILE); with --extract: extract only program NAME",
     apply_program},
    {Group::output, Form::value, Scope::sources_or_rebuild, '\0', "optional", "PROGRAM",
     "allow PROGRAM to fail for a device: print a warning\n"
     "and keep its source, which is built when PROGRAM is\n"
     "loaded on that device; repeatable",
     append_value<&Options::optional_programs>},
    {Group::output, Form::value, Scope::compile_or_extract, '\0', "variant", "NAME='OPTIONS'",
     "compile with OPTIONS in addition, as variant NAME;\n"
     "repeatable (default: one variant, \"default\"); with\n"
     "--extract: extract only variant NAME",
     apply_variant},
    {Group::output, Form::value, Scope::sources_or_rebuild, '\0', "specialize", "KERNEL=SIZE",
     "prepare KERNEL for launches with work-groups of SIZE\n"
     "(64, 16x16, 8x8x4): include the code that its first\n"
     "launch requires; repeatable. Sizes that kernels\n"
     "require or hint at are always included",
     apply_specialize},
    {Group::output, Form::flag, Scope::sources_or_rebuild, '\0', "emit-cubin", "",
     "for NVIDIA devices, also write a cubin, which the\n"
     "driver loads without compiling; requires ptxas",
     set_constant<&Options::cubin, CubinPolicy::emit>},
    {Group::output, Form::flag, Scope::sources_or_rebuild | Scope::record, '\0', "no-source", "",
     "omit the source from the bundle. By default, the\n"
     "source and every header it includes are shipped,\n"
     "so that devices without a matching entry can build\n"
     "the program",
     set_constant<&Options::source, SourcePolicy::drop>},

    {Group::output, Form::flag, Scope::compile, '\0', "source-only", "",
     "compile nothing: write a bundle of the sources, from\n"
     "which each device builds the program",
     set_constant<&Options::binaries, BinaryPolicy::none>},

    {Group::devices, Form::value, Scope::calling, '\0', "device", "PATTERN",
     "use only matching devices: gpu, cpu, accelerator,\n"
     "all, PLATFORM:DEVICE by number (0:1), a feature of\n"
     "--identity, or a part of a platform or device name;\n"
     "repeatable (default: all)",
     append_value<&Options::device_patterns>},

    {Group::devices, Form::value, Scope::sources_or_rebuild, '\0', "target", "SPEC",
     "compile for the offline target SPEC, such as\n"
     "nvptx:sm_70, which needs no device; starts no\n"
     "driver unless --device is given, too; repeatable",
     append_value<&Options::targets>},

    {Group::devices, Form::value, Scope::offline, '\0', "tool", "NAME=PATH",
     "for offline targets, use the program or library\n"
     "PATH as NAME, such as clang; repeatable",
     apply_tool},

    {Group::devices, Form::value, Scope::sources, '\0', "device-option", "PATTERN=OPTIONS",
     "compile with OPTIONS in addition, for the devices\n"
     "that match PATTERN",
     apply_device_option},

    {Group::compiler, Form::word_value, Scope::sources, '\0', "-D", "NAME[=VALUE]",
     "define a macro", apply_define},
    {Group::compiler, Form::word_value, Scope::sources, '\0', "-U", "NAME", "undefine a macro",
     apply_undefine},
    {Group::compiler, Form::word_value, Scope::sources, '\0', "-I", "DIR", "search DIR for headers",
     append_value<&Options::include_folders>},
    {Group::compiler, Form::word_value, Scope::sources, '\0', "-include", "FILE",
     "include FILE before the first line", append_value<&Options::forced_includes>},
    {Group::compiler, Form::word_prefix, Scope::sources, '\0', "-cl-", "*",
     "pass any OpenCL option to every driver, unchanged", append_value<&Options::driver_options>},
    {Group::compiler, Form::word, Scope::sources, '\0', "-g", "", "generate debug information",
     append_value<&Options::driver_options>},
    {Group::compiler, Form::word, Scope::sources, '\0', "-O", "",
     "set the optimization level; passed to every driver,\n"
     "unchanged",
     append_value<&Options::driver_options>},
    {Group::compiler, Form::word, Scope::sources, '\0', "-O0", "", "",
     append_value<&Options::driver_options>},
    {Group::compiler, Form::word, Scope::sources, '\0', "-O1", "", "",
     append_value<&Options::driver_options>},
    {Group::compiler, Form::word, Scope::sources, '\0', "-O2", "", "",
     append_value<&Options::driver_options>},
    {Group::compiler, Form::word, Scope::sources, '\0', "-O3", "", "",
     append_value<&Options::driver_options>},
    {Group::compiler, Form::word, Scope::sources, '\0', "-Os", "", "",
     append_value<&Options::driver_options>},
    {Group::compiler, Form::word, Scope::sources, '\0', "-Oz", "", "",
     append_value<&Options::driver_options>},
    {Group::compiler, Form::word, Scope::sources, '\0', "-Ofast", "", "",
     append_value<&Options::driver_options>},
    {Group::compiler, Form::word, Scope::sources, '\0', "-w", "", "suppress compiler warnings",
     append_value<&Options::driver_options>},
    {Group::compiler, Form::word, Scope::sources, '\0', "-Werror", "", "treat warnings as errors",
     append_value<&Options::driver_options>},
    {Group::compiler, Form::word, Scope::sources_or_rebuild, '\0', "-Werror=variant", "",
     "treat a variant that some device cannot build as an\n"
     "error",
     set_constant<&Options::absent_variants, AbsentVariants::refuse>},

    {Group::compiler, Form::word_value, Scope::sources, '\0', "-x", "cl",
     "set the input language; only cl is supported", apply_language},
    {Group::compiler, Form::word_equals, Scope::sources, '\0', "-ffile-prefix-map", "OLD=NEW",
     "replace OLD with NEW at the start of file names in\n"
     "#line directives, in binaries and in the bundle",
     apply_prefix_map},
    {Group::compiler, Form::word_equals, Scope::sources, '\0', "-fmacro-prefix-map", "OLD=NEW", "",
     apply_prefix_map},
    {Group::compiler, Form::word_equals, Scope::sources, '\0', "-fdebug-prefix-map", "OLD=NEW", "",
     apply_prefix_map},

    {Group::depfiles, Form::word, Scope::compile, '\0', "-M", "",
     "print the rule and compile nothing",
     set_constant<&Options::depfile_mode, DepfileMode::instead>},
    {Group::depfiles, Form::word, Scope::compile, '\0', "-MM", "", "",
     set_constant<&Options::depfile_mode, DepfileMode::instead>},
    {Group::depfiles, Form::word, Scope::compile_or_bundle, '\0', "-MD", "",
     "write the rule next to the output, with suffix .d", apply_rule_beside},
    {Group::depfiles, Form::word, Scope::compile_or_bundle, '\0', "-MMD", "", "",
     apply_rule_beside},
    {Group::depfiles, Form::word_value, Scope::compile_or_bundle, '\0', "-MF", "FILE",
     "write the rule to FILE", set_value<&Options::depfile>},
    {Group::depfiles, Form::word_value, Scope::compile_or_bundle, '\0', "-MT", "TARGET",
     "set the target of the rule, unchanged", append_value<&Options::depfile_targets>},
    {Group::depfiles, Form::word_value, Scope::compile_or_bundle, '\0', "-MQ", "TARGET",
     "set the target of the rule, escaped for make", apply_quoted_depfile_target},
    {Group::depfiles, Form::word, Scope::compile_or_bundle, '\0', "-MP", "",
     "add an empty rule for each header, so that make\n"
     "continues after a header is removed",
     set_constant<&Options::phony_headers, PhonyHeaders::yes>},

    {Group::running, Form::word, Scope::compile_or_rebuild, '\0', "-fsyntax-only", "",
     "compile, but write no output", apply_syntax_only},
    {Group::running, Form::word, Scope::compile, '\0', "-###", "",
     "print a command for each unit and run none",
     set_constant<&Options::goal, CompileGoal::preview>},
    {Group::running, Form::value, Scope::running, 'j', "jobs", "N",
     "run N compilers at once (default: one per core)", apply_jobs},
    {Group::running, Form::value, Scope::calling | Scope::sign, '\0', "timeout", "SECONDS",
     "stop a compiler, or the command of --sign-with,\n"
     "after SECONDS (default: 300)",
     apply_timeout},
    {Group::running, Form::value, Scope::compile_or_list, '\0', "memory-limit", "SIZE",
     "stop a compiler that uses more memory than SIZE,\n"
     "such as 512M or 4G; none: no limit (default: three\n"
     "quarters of the machine's memory)",
     apply_memory_limit},
    {Group::running, Form::flag, Scope::compile_or_rebuild, '\0', "keep-going", "",
     "write the parts that compiled even if others failed",
     set_constant<&Options::failure, FailurePolicy::keep_going>},
    {Group::running, Form::optional_value, Scope::any, '\0', "color", "WHEN",
     "use colours: auto, always or never (default: auto)", apply_color},
    {Group::running, Form::value, Scope::any, '\0', "diagnostics-format", "FORMAT",
     "print messages as text, json or sarif (default:\n"
     "text)",
     apply_diagnostics_format},
    {Group::running, Form::flag, Scope::any, 'q', "quiet", "", "suppress warnings and notes",
     set_constant<&Options::verbosity, Verbosity::quiet>},
    {Group::running, Form::flag, Scope::any, 'v', "verbose", "",
     "report each step and print whole build logs; with\n"
     "--list-devices: print all properties of the devices",
     set_constant<&Options::verbosity, Verbosity::verbose>},

    {Group::inspecting, Form::mode, Scope::any, '\0', "info", "",
     "list the contents of the bundles FILE...; starts no\n"
     "driver",
     enter<Mode::info>},
    {Group::inspecting, Form::mode, Scope::any, '\0', "list-devices", "",
     "list the installed devices", enter<Mode::list_devices>},
    {Group::inspecting, Form::mode, Scope::any, '\0', "list-targets", "",
     "list the offline targets, and what those that cannot\n"
     "be used here need",
     enter<Mode::list_targets>},
    {Group::inspecting, Form::mode, Scope::any, '\0', "explain", "",
     "show what each device would load from the bundles\n"
     "FILE..., and why; passes matching entries to the\n"
     "drivers, compiles no source",
     enter<Mode::explain>},
    {Group::inspecting, Form::mode, Scope::any, '\0', "verify", "",
     "check every byte of the bundles FILE...", enter<Mode::verify>},
    {Group::inspecting, Form::flag, Scope::verify, '\0', "run", "",
     "with --verify: load each entry on the devices that\n"
     "would load it, each in a separate process",
     set_constant<&Options::run, RunPolicy::yes>},
    {Group::inspecting, Form::mode, Scope::any, '\0', "diff", "",
     "list the differences between two bundles; the exit\n"
     "status is 1 if there are any",
     enter<Mode::diff>},
    {Group::inspecting, Form::mode, Scope::any, '\0', "extract", "",
     "write the binaries and sources of bundles to files\n"
     "in the directory -o (default: working directory)",
     enter<Mode::extract>},
    {Group::inspecting, Form::flag, Scope::reporting, '\0', "json", "", "print the report as JSON",
     set_constant<&Options::list_format, ListFormat::json>},

    {Group::planning, Form::value, Scope::any, '\0', "plan", "ninja|json|slurm|parallel",
     "compile nothing: write a plan of the units, and of\n"
     "the merge and repack that make the bundle -o, for\n"
     "ninja, Slurm, GNU parallel, or (as JSON) another\n"
     "engine, to the directory that is named as the\n"
     "bundle, with the suffix .plan. Leaves out what the\n"
     "cache contains",
     apply_plan},
    {Group::planning, Form::value, Scope::plan, '\0', "machine", "FILE",
     "with --plan: plan for the devices in FILE, which\n"
     "--identity --json printed on another machine, and\n"
     "not for those of this machine; repeatable",
     append_value<&Options::machines>},
    {Group::planning, Form::value, Scope::compile, '\0', "unit", "KEY",
     "compile only the unit KEY of a plan, which the other\n"
     "options describe; fail if they describe another one",
     apply_unit},
    {Group::planning, Form::mode, Scope::any, '\0', "identity", "",
     "print what this machine can compile for, as features\n"
     "of a Slurm node: Feature=...",
     enter<Mode::identity>},

    {Group::changing, Form::mode, Scope::any, '\0', "merge", "",
     "combine the bundles FILE..., in any order, into the\n"
     "bundle -o; compresses nothing again",
     enter<Mode::merge>},
    {Group::changing, Form::mode, Scope::any, '\0', "repack", "",
     "compress the bundles FILE... again, in place unless\n"
     "-o is given",
     enter<Mode::repack>},
    {Group::changing, Form::mode, Scope::any, '\0', "strip", "",
     "remove parts of the bundles FILE..., in place unless\n"
     "-o is given; compresses nothing again",
     enter<Mode::strip>},
    {Group::changing, Form::value, Scope::choosing, '\0', "keep-target", "PATTERN",
     "keep, or extract, only entries whose target matches\n"
     "PATTERN (a target such as nvptx:sm_70, or a part of\n"
     "a device or platform name); repeatable",
     append_value<&Options::keep_targets>},
    {Group::changing, Form::value, Scope::choosing, '\0', "drop-target", "PATTERN",
     "remove, or do not extract, entries whose target\n"
     "matches PATTERN; '*' matches all; repeatable",
     append_value<&Options::drop_targets>},
    {Group::changing, Form::flag, Scope::strip, '\0', "strip-source", "", "remove the source",
     set_constant<&Options::source, SourcePolicy::drop>},
    {Group::changing, Form::flag, Scope::strip, '\0', "strip-reflection", "",
     "remove all kernel information except kernel names",
     set_constant<&Options::reflection, ReflectionPolicy::drop>},

    {Group::recording, Form::value, Scope::any, '\0', "record", "BUNDLE",
     "run the command after \"--\", and write the OpenCL\n"
     "programs that it builds, with their sources and\n"
     "options, to BUNDLE, or add them to it",
     apply_record},
    {Group::recording, Form::flag, Scope::record, '\0', "record-binaries", "",
     "also record the device binaries",
     set_constant<&Options::recorded_binaries, BinaryPolicy::build>},

    {Group::signing, Form::value, Scope::any, '\0', "keygen", "NAME",
     "make a key pair: the secret key NAME.key, which a\n"
     "passphrase protects, and the public key NAME.pub, as\n"
     "minisign(1) does; --key-type makes other keys",
     apply_keygen},
    {Group::signing, Form::flag, Scope::keygen, '\0', "no-passphrase", "",
     "with --keygen: do not protect the secret key",
     set_constant<&Options::passphrase_policy, PassphrasePolicy::none>},
    {Group::signing, Form::mode, Scope::any, '\0', "sign", "",
     "sign the bundles FILE..., in place unless -o is\n"
     "given, with --key or --sign-with",
     enter<Mode::sign>},
    {Group::signing, Form::value, Scope::sign, '\0', "key", "FILE",
     "with --sign: sign with the secret key in FILE", apply_key},
    {Group::signing, Form::value, Scope::compile_or_rebuild, '\0', "sign-key", "FILE",
     "sign the output of a compile with the secret key in\n"
     "FILE",
     apply_sign_key},
    {Group::signing, Form::value, Scope::sign_or_compile, '\0', "sign-with", "COMMAND",
     "sign with COMMAND, which reads the bytes to sign on\n"
     "standard input and writes their Ed25519 signature to\n"
     "standard output; requires --public-key",
     apply_sign_with},
    {Group::signing, Form::value, Scope::trusting, '\0', "public-key", "KEY",
     "with --verify: require a signature by KEY, a file or\n"
     "the text in it; repeatable. With --sign-with: the\n"
     "key of COMMAND",
     apply_public_key},
    {Group::signing, Form::value, Scope::counter, '\0', "counter", "N",
     "also sign the counter N, against older versions", apply_counter},
    {Group::signing, Form::value, Scope::verify, '\0', "least-counter", "N",
     "with --verify: require a counter of at least N", apply_least_counter},
    {Group::signing, Form::value, Scope::sign, '\0', "vouched-by", "FILE",
     "with --sign: who trusts the secret key in FILE shall\n"
     "also trust the key that signs",
     apply_vouched_by},
    {Group::signing, Form::value, Scope::passphrase, '\0', "passphrase-file", "FILE",
     "read the passphrase of the secret key from FILE\n"
     "(default: the terminal, or standard input)",
     apply_passphrase_file},
    {Group::signing, Form::flag, Scope::detaching, '\0', "detached", "",
     "with --sign or --verify: write or check a signature\n"
     "file FILE.minisig, as minisign(1) does",
     set_constant<&Options::signature_form, SignatureForm::detached>},
    {Group::signing, Form::mode, Scope::any, '\0', "sign-message", "",
     "write the bytes that a signature of the bundle FILE\n"
     "signs, for signing elsewhere",
     enter<Mode::sign_message>},
    {Group::signing, Form::mode, Scope::any, '\0', "strip-signature", "",
     "remove the signatures of the bundles FILE..., in\n"
     "place unless -o is given, and nothing else",
     enter<Mode::strip_signature>},

    {Group::encrypting, Form::value, Scope::keygen, '\0', "key-type", "TYPE",
     "with --keygen: make a key pair for signing, the\n"
     "content key NAME.key, or a key pair of a recipient;\n"
     "the last two have no passphrase (default: signing)",
     apply_key_type},
    {Group::encrypting, Form::mode, Scope::any, '\0', "encrypt", "",
     "encrypt the contents of the bundles FILE..., in\n"
     "place unless -o is given, with --encrypt-key or\n"
     "--encrypt-for",
     enter<Mode::encrypt>},
    {Group::encrypting, Form::mode, Scope::any, '\0', "decrypt", "",
     "decrypt the contents of the bundles FILE..., in\n"
     "place unless -o is given, with --decrypt-key",
     enter<Mode::decrypt>},
    {Group::encrypting, Form::value, Scope::encrypting, '\0', "encrypt-key", "FILE",
     "encrypt the output with the content key in FILE;\n"
     "equal contents have equal bytes",
     apply_encrypt_key},
    {Group::encrypting, Form::value, Scope::encrypting, '\0', "encrypt-for", "KEY",
     "encrypt the output for the recipient with the\n"
     "public key KEY, a file or the text in it, with a new\n"
     "content key unless --encrypt-key is given;\n"
     "repeatable",
     apply_encrypt_for},
    {Group::encrypting, Form::value, Scope::decrypting, '\0', "decrypt-key", "FILE",
     "read encrypted bundles with the content key, or the\n"
     "recipient's secret key, in FILE; repeatable",
     apply_decrypt_key},

    {Group::caching, Form::flag, Scope::sources_or_rebuild, '\0', "no-cache", "",
     "build everything, and store nothing in the cache",
     set_constant<&Options::cache, CachePolicy::ignore>},
    {Group::caching, Form::mode, Scope::any, '\0', "cache-stats", "",
     "show the contents and the hits of libclbin's user\n"
     "cache and oclcc's compile cache",
     enter<Mode::cache_stats>},
    {Group::caching, Form::mode, Scope::any, '\0', "clear-cache", "",
     "remove the contents of both caches", enter<Mode::clear_cache>},

    {Group::modes, Form::optional_mode, Scope::any, '\0', "help", "all",
     "show the common options, or all options", apply_help},
    {Group::modes, Form::mode, Scope::any, '\0', "version", "", "show the version",
     enter<Mode::version>},
};

} // namespace

std::span<const OptionRow> option_table() noexcept {
  return k_option_table;
}

std::string short_spelling(const OptionRow& row) {
  if (row.letter != '\0') {
    return {'-', row.letter};
  }
  return (is_word_form(row.form) ? "" : "--") + std::string(row.long_name);
}

std::vector<std::string> option_spellings() {
  std::vector<std::string> result;
  for (const OptionRow& row : option_table()) {
    result.push_back(short_spelling(row));
    if (row.letter != '\0') {
      result.push_back("--" + std::string(row.long_name));
    }
  }
  return result;
}

bool is_word_form(OptionForm form) noexcept {
  return form == OptionForm::word || form == OptionForm::word_value ||
         form == OptionForm::word_equals || form == OptionForm::word_prefix;
}

} // namespace oclcc
