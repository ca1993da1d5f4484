#include "command_line/option_table.hpp"

#include "command_line/option_effects.hpp"

namespace oclcc {

namespace {

using Group = OptionGroup;
using Form = OptionForm;

struct Scope {
  static constexpr OptionScope compile = scope_of(Mode::compile);
  static constexpr OptionScope compile_or_embed = compile | k_bundle_input;
  static constexpr OptionScope strip = scope_of(Mode::strip);
  static constexpr OptionScope compile_or_list = scope_of(Mode::compile, Mode::list_devices);
  static constexpr OptionScope writing =
      scope_of(Mode::compile, Mode::strip, Mode::merge, Mode::repack, Mode::extract) |
      k_bundle_input;
  static constexpr OptionScope reporting =
      scope_of(Mode::info, Mode::list_devices, Mode::verify, Mode::diff, Mode::strip, Mode::merge,
               Mode::repack, Mode::extract, Mode::cache_stats, Mode::explain);
  static constexpr OptionScope compile_or_extract = scope_of(Mode::compile, Mode::extract);
  static constexpr OptionScope choosing = scope_of(Mode::strip, Mode::extract);
  static constexpr OptionScope verify = scope_of(Mode::verify);
  static constexpr OptionScope running = scope_of(Mode::compile, Mode::verify, Mode::explain);
  static constexpr OptionScope calling =
      scope_of(Mode::compile, Mode::list_devices, Mode::verify, Mode::explain);
  static constexpr OptionScope any = ~0U;
};

// In the order of --help.
constexpr OptionRow k_option_table[] = {
    {Group::output, Form::value, Scope::writing, 'o', "output", "FILE",
     "write the bundle to FILE; \"-\" is standard output\n"
     "(default: the program's name + \".clbin\"; with\n"
     "several inputs there is none). If FILE ends in\n"
     ".ptx, .cubin, .spv or .bin: the one device's\n"
     "binary itself. If it ends in .h, .c, .o or .s: the\n"
     "bundle embedded in a header, C, an object file or\n"
     "assembly, or in .hpp: C++ launchers; the input may\n"
     "then be a bundle, too",
     set_value<&Options::output>},
    {Group::output, Form::value, Scope::compile_or_embed, '\0', "emit", "KIND",
     "what to write, whatever FILE ends in: clbin, ptx,\n"
     "cubin, spv, bin, h, c, o, s or hpp",
     apply_emit},
    {Group::output, Form::value, Scope::compile_or_embed, '\0', "symbol", "NAME",
     "the name of an embedded bundle in C (default: the\n"
     "output's stem + \"_clbin\"); NAME_size is its size",
     apply_symbol},
    {Group::output, Form::value, Scope::compile_or_embed, '\0', "embed-header", "FILE",
     "with -o k.c, k.o or k.s: also write FILE, a header\n"
     "that declares what they hold",
     set_value<&Options::embed_header>},
    {Group::output, Form::value, Scope::compile_or_embed, '\0', "host-triple", "TRIPLE",
     "with -o k.o or k.s: for TRIPLE's machine, such as\n"
     "aarch64-linux-gnu (default: this one)",
     apply_host_triple},
    {Group::output, Form::value, Scope::compile_or_extract, '\0', "program", "NAME=FILE",
     "compile FILE as program NAME instead of its stem;\n"
     "with --extract, NAME is the program to extract",
     apply_program},
    {Group::output, Form::value, Scope::compile, '\0', "optional", "PROGRAM",
     "PROGRAM may fail to compile for a device: warn, and\n"
     "keep its source, which loads on that device build;\n"
     "may be given many times",
     append_value<&Options::optional_programs>},
    {Group::output, Form::value, Scope::compile_or_extract, '\0', "variant", "NAME='OPTIONS'",
     "compile also with OPTIONS, to be loaded as NAME; may\n"
     "be given many times. Without it there is one\n"
     "variant, \"default\"; with --extract, NAME is the\n"
     "variant to extract",
     apply_variant},
    {Group::output, Form::value, Scope::compile, '\0', "specialize", "KERNEL=SIZE",
     "KERNEL is launched with work-groups of SIZE (64,\n"
     "16x16, 8x8x4): make what its first launch needs; may\n"
     "be given many times (always done for sizes that\n"
     "kernels require)",
     apply_specialize},
    {Group::output, Form::flag, Scope::compile, '\0', "emit-cubin", "",
     "for NVIDIA devices also a cubin, which the driver\n"
     "does not compile any more; needs ptxas",
     set_constant<&Options::cubin, CubinPolicy::emit>},
    {Group::output, Form::flag, Scope::compile, '\0', "no-source", "",
     "leave the source out of the bundle. Unless this is\n"
     "given, the source and every header it includes are\n"
     "shipped, so that devices that no entry fits can\n"
     "still build it",
     set_constant<&Options::source, SourcePolicy::drop>},

    {Group::devices, Form::value, Scope::calling, '\0', "device", "PATTERN",
     "only the devices that match: gpu, cpu, accelerator,\n"
     "all, PLATFORM:DEVICE by number (0:1), or a part of a\n"
     "platform's or device's name; may be given many times\n"
     "(default: all)",
     append_value<&Options::device_patterns>},

    {Group::devices, Form::value, Scope::compile, '\0', "device-option", "PATTERN=OPTIONS",
     "compile with OPTIONS, too, for those devices", apply_device_option},

    {Group::compiler, Form::word_value, Scope::compile, '\0', "-D", "NAME[=VALUE]",
     "define a macro", apply_define},
    {Group::compiler, Form::word_value, Scope::compile, '\0', "-U", "NAME", "undefine a macro",
     apply_undefine},
    {Group::compiler, Form::word_value, Scope::compile, '\0', "-I", "FOLDER",
     "look for headers in FOLDER", append_value<&Options::include_folders>},
    {Group::compiler, Form::word_value, Scope::compile, '\0', "-include", "FILE",
     "include FILE before the first line", append_value<&Options::forced_includes>},
    {Group::compiler, Form::word_prefix, Scope::compile, '\0', "-cl-", "*",
     "any OpenCL option, handed to every driver as it is", append_value<&Options::driver_options>},
    {Group::compiler, Form::word, Scope::compile, '\0', "-g", "", "debug information",
     append_value<&Options::driver_options>},
    {Group::compiler, Form::word, Scope::compile, '\0', "-O", "",
     "optimize so much, handed to every driver as it is", append_value<&Options::driver_options>},
    {Group::compiler, Form::word, Scope::compile, '\0', "-O0", "", "",
     append_value<&Options::driver_options>},
    {Group::compiler, Form::word, Scope::compile, '\0', "-O1", "", "",
     append_value<&Options::driver_options>},
    {Group::compiler, Form::word, Scope::compile, '\0', "-O2", "", "",
     append_value<&Options::driver_options>},
    {Group::compiler, Form::word, Scope::compile, '\0', "-O3", "", "",
     append_value<&Options::driver_options>},
    {Group::compiler, Form::word, Scope::compile, '\0', "-Os", "", "",
     append_value<&Options::driver_options>},
    {Group::compiler, Form::word, Scope::compile, '\0', "-Oz", "", "",
     append_value<&Options::driver_options>},
    {Group::compiler, Form::word, Scope::compile, '\0', "-Ofast", "", "",
     append_value<&Options::driver_options>},
    {Group::compiler, Form::word, Scope::compile, '\0', "-w", "", "no warnings",
     append_value<&Options::driver_options>},
    {Group::compiler, Form::word, Scope::compile, '\0', "-Werror", "", "warnings are errors",
     append_value<&Options::driver_options>},
    {Group::compiler, Form::word, Scope::compile, '\0', "-Werror=variant", "",
     "a variant that some device cannot build is an error",
     set_constant<&Options::absent_variants, AbsentVariants::refuse>},

    {Group::compiler, Form::word_value, Scope::compile, '\0', "-x", "cl",
     "the inputs' language; there is one", apply_language},
    {Group::compiler, Form::word_equals, Scope::compile, '\0', "-ffile-prefix-map", "OLD=NEW",
     "replace OLD at the start of the names that #line\n"
     "gives, in binaries and in the bundle",
     apply_prefix_map},
    {Group::compiler, Form::word_equals, Scope::compile, '\0', "-fmacro-prefix-map", "OLD=NEW", "",
     apply_prefix_map},
    {Group::compiler, Form::word_equals, Scope::compile, '\0', "-fdebug-prefix-map", "OLD=NEW", "",
     apply_prefix_map},

    {Group::depfiles, Form::word, Scope::compile, '\0', "-M", "",
     "print the rule and compile nothing",
     set_constant<&Options::depfile_mode, DepfileMode::instead>},
    {Group::depfiles, Form::word, Scope::compile, '\0', "-MM", "", "",
     set_constant<&Options::depfile_mode, DepfileMode::instead>},
    {Group::depfiles, Form::word, Scope::compile_or_embed, '\0', "-MD", "",
     "write it beside the output, ending in .d", apply_rule_beside},
    {Group::depfiles, Form::word, Scope::compile_or_embed, '\0', "-MMD", "", "", apply_rule_beside},
    {Group::depfiles, Form::word_value, Scope::compile_or_embed, '\0', "-MF", "FILE",
     "write it to FILE", set_value<&Options::depfile>},
    {Group::depfiles, Form::word_value, Scope::compile_or_embed, '\0', "-MT", "TARGET",
     "the rule's target, as it is", append_value<&Options::depfile_targets>},
    {Group::depfiles, Form::word_value, Scope::compile_or_embed, '\0', "-MQ", "TARGET",
     "the rule's target, to be escaped for make", apply_quoted_depfile_target},
    {Group::depfiles, Form::word, Scope::compile_or_embed, '\0', "-MP", "",
     "a rule for each header, so that it may be removed",
     set_constant<&Options::phony_headers, PhonyHeaders::yes>},

    {Group::running, Form::word, Scope::compile, '\0', "-fsyntax-only", "",
     "compile and write nothing", apply_syntax_only},
    {Group::running, Form::word, Scope::compile, '\0', "-###", "",
     "show a command for each unit and run none",
     set_constant<&Options::goal, CompileGoal::preview>},
    {Group::running, Form::value, Scope::running, 'j', "jobs", "N",
     "N compilers at once (default: one a core)", apply_jobs},
    {Group::running, Form::value, Scope::calling, '\0', "timeout", "SECONDS",
     "give up on a compiler after SECONDS (default: 300)", apply_timeout},
    {Group::running, Form::value, Scope::compile_or_list, '\0', "memory-limit", "SIZE",
     "end a compiler that uses more memory, such as 512M\n"
     "or 4G; none: never (default: three quarters of the\n"
     "machine's)",
     apply_memory_limit},
    {Group::running, Form::flag, Scope::compile, '\0', "keep-going", "",
     "write what did compile even if something did not",
     set_constant<&Options::failure, FailurePolicy::keep_going>},
    {Group::running, Form::optional_value, Scope::any, '\0', "color", "WHEN",
     "colours: auto, always or never (default: auto)", apply_color},
    {Group::running, Form::value, Scope::any, '\0', "diagnostics-format", "FORMAT",
     "messages on standard error as text, json or sarif\n"
     "(default: text)",
     apply_diagnostics_format},
    {Group::running, Form::flag, Scope::any, 'q', "quiet", "", "no warnings and no notes",
     set_constant<&Options::verbosity, Verbosity::quiet>},
    {Group::running, Form::flag, Scope::any, 'v', "verbose", "",
     "say what is done, show whole build logs; with\n"
     "--list-devices, show all that the devices tell",
     set_constant<&Options::verbosity, Verbosity::verbose>},

    {Group::inspecting, Form::mode, Scope::any, '\0', "info", "",
     "show what the bundles FILE... hold; starts no driver", enter<Mode::info>},
    {Group::inspecting, Form::mode, Scope::any, '\0', "list-devices", "",
     "show the installed devices", enter<Mode::list_devices>},
    {Group::inspecting, Form::mode, Scope::any, '\0', "explain", "",
     "show what each device here would load from the\n"
     "bundles FILE..., and why; entries that fit are\n"
     "handed to the drivers, source is not compiled",
     enter<Mode::explain>},
    {Group::inspecting, Form::mode, Scope::any, '\0', "verify", "",
     "check every byte of the bundles FILE...", enter<Mode::verify>},
    {Group::inspecting, Form::flag, Scope::verify, '\0', "run", "",
     "with --verify: load each entry on the devices that\n"
     "would load it, in a process of its own",
     set_constant<&Options::run, RunPolicy::yes>},
    {Group::inspecting, Form::mode, Scope::any, '\0', "diff", "",
     "show how the contents of two bundles differ; the\n"
     "exit status is 1 where they do",
     enter<Mode::diff>},
    {Group::inspecting, Form::mode, Scope::any, '\0', "extract", "",
     "write the device binaries and the sources of bundles\n"
     "to files in the folder -o (default: this one)",
     enter<Mode::extract>},
    {Group::inspecting, Form::flag, Scope::reporting, '\0', "json", "", "tell it as JSON",
     set_constant<&Options::list_format, ListFormat::json>},

    {Group::changing, Form::mode, Scope::any, '\0', "merge", "",
     "make one bundle, -o, of all that the bundles FILE...\n"
     "hold, whatever their order; nothing is compressed\n"
     "again",
     enter<Mode::merge>},
    {Group::changing, Form::mode, Scope::any, '\0', "repack", "",
     "compress the bundles FILE... afresh, in place unless\n"
     "there is -o",
     enter<Mode::repack>},
    {Group::changing, Form::mode, Scope::any, '\0', "strip", "",
     "drop parts of the bundles FILE..., in place unless\n"
     "there is -o; nothing is compressed again",
     enter<Mode::strip>},
    {Group::changing, Form::value, Scope::choosing, '\0', "keep-target", "PATTERN",
     "keep, or extract, of the entries only those whose\n"
     "target matches:\n"
     "a target such as nvptx:sm_70, or a part of a\n"
     "device's or platform's name; may be given many times",
     append_value<&Options::keep_targets>},
    {Group::changing, Form::value, Scope::choosing, '\0', "drop-target", "PATTERN",
     "drop the entries whose target matches, or do not\n"
     "extract them; '*' is all of\n"
     "them; may be given many times",
     append_value<&Options::drop_targets>},
    {Group::changing, Form::flag, Scope::strip, '\0', "strip-source", "", "drop the source",
     set_constant<&Options::source, SourcePolicy::drop>},
    {Group::changing, Form::flag, Scope::strip, '\0', "strip-reflection", "",
     "drop what is known of kernels, but their names",
     set_constant<&Options::reflection, ReflectionPolicy::drop>},

    {Group::caching, Form::flag, Scope::compile, '\0', "no-cache", "",
     "build all, and keep nothing for the next time",
     set_constant<&Options::cache, CachePolicy::ignore>},
    {Group::caching, Form::mode, Scope::any, '\0', "cache-stats", "",
     "show what libclbin's user cache and oclcc's compile\n"
     "cache hold, and how they have served",
     enter<Mode::cache_stats>},
    {Group::caching, Form::mode, Scope::any, '\0', "clear-cache", "",
     "remove all that the two caches hold", enter<Mode::clear_cache>},

    {Group::modes, Form::mode, Scope::any, '\0', "help", "", "show this text", enter<Mode::help>},
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
