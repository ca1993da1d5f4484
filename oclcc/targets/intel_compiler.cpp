#include "targets/clang_front_end.hpp"

#include "format/binary/binary_kernels.hpp"
#include "format/binary/elf_object.hpp"

#include "matching/vendor_rules.hpp"
#include "opencl/driver.hpp"

#include <fmt/format.h>

namespace oclcc::offline {

using base::ByteReader;
using base::ByteView;

namespace {

constexpr const char* k_version_query = "OCL_DRIVER_VERSION";
// ocloc ends with the status of clBuildProgram, -11.
constexpr int k_status_build_failure = 256 + CL_BUILD_PROGRAM_FAILURE;

// What ocloc 22.43 and 26.27 accept. It is the compiler of Intel's driver.
const OptionRule k_intel_rules[] = {
    {"-cl-std=CL1.0"},
    {"-cl-std=CL1.1"},
    {"-cl-std=CL1.2"},
    {"-cl-std=CL2.0"},
    {"-cl-std=CL3.0"},
    {"-cl-std=CL3.1", OptionEffect::pass, {"-cl-std=CL3.0"}},
    {"-cl-std=", OptionEffect::refuse},
    {k_flush_denormals},
    {k_correct_rounding},
    {"-g"},
    {"-cl-no-subgroup-ifp"},
    {"-cl-opt-disable"},
    {"-cl-strict-aliasing"},
    {"-cl-intel-greater-than-4GB-buffer-required"},
};

// What the driver patches (intel/compute-runtime, compiler_interface/linker.h), and ocloc 26 uses.
bool is_of_driver(std::string_view symbol) {
  constexpr std::string_view k_symbols[] = {"__INTEL_PATCH_CROSS_THREAD_OFFSET_OFF_R0",
                                            "__INTEL_PER_THREAD_OFF", "__SubDeviceID"};
  return std::ranges::find(k_symbols, symbol) != std::end(k_symbols);
}

bool is_about_itself(std::string_view line) {
  return line.empty() || line == "Build succeeded." || line.starts_with("Command was: ") ||
         line.starts_with("Build failed with error code: ");
}

// Returns whether ocloc made a zebin.
Result<bool> run_ocloc(const ToolSession& session, const OfflineTarget& target,
                       const std::string& options, BuildReply& reply) {
  // Without -q, which hides diagnostics, too.
  CLBIN_TRY_ASSIGN(
      const ToolRun run,
      session.run("ocloc", {"compile", "-file", k_main_file, "-device", target.architecture, "-64",
                            "--format", "zebin", "-exclude_ir", "-out_dir", "out", "-output",
                            "kernel", "-output_no_suffix", "-options", options}));
  const std::string log = build_log_of(run.output);
  if (run.exit_status == 0) {
    reply.log += log;
    return true;
  }
  if (run.exit_status != k_status_build_failure || log.empty()) {
    return fail(ErrorCode::internal, "{}", failure_text("ocloc", run));
  }
  reply.log += log;
  reply.cl_code = CL_BUILD_PROGRAM_FAILURE;
  reply.stage = "ocloc";
  return false;
}

// A zebin without kernels has no section .ze_info.
Result<std::vector<format::KernelReflection>> read_zebin(ByteView zebin) {
  constexpr std::uint32_t k_section_ze_info = 0xff000011U;
  const auto object = format::parse_elf(zebin);
  if (!object || format::classify_binary(zebin).kind != format::BinaryKind::intel_zebin) {
    return fail(ErrorCode::damaged, "ocloc did not write a zebin");
  }
  const auto info =
      std::ranges::find(object->sections, k_section_ze_info, &format::ElfSection::type);
  if (info == object->sections.end()) {
    return std::vector<format::KernelReflection>();
  }
  return format::read_zebin_kernels(zebin);
}

std::vector<ToolRow> intel_tools(const OfflineTarget& target) {
  const Releases releases = ocloc_releases(target);
  const bool has_package = releases.has(22);
  ToolRow::Tool ocloc{"ocloc", "ocloc", has_package ? "intel-opencl-icd" : ""};
  if (has_package) {
    ocloc.tested_versions.emplace_back("22.43");
  }
  if (releases.has(26)) {
    ocloc.tested_versions.emplace_back("26.27");
  }
  return {{{std::move(ocloc)}, "12"}};
}

// A driver would refuse it. ocloc 22.43 writes no IP version for dg2 and pvc.
Result<void> require_match(const OfflineTarget& target, ByteView zebin) {
  const auto verdict = clbin::matching::judge_intel(format::classify_binary(zebin),
                                                    recorded_target(target).identity);
  return verdict.fit == clbin::matching::Fit::yes
             ? Result<void>()
             : fail(ErrorCode::internal, "ocloc wrote a zebin that does not match: {}",
                    verdict.reason);
}

// ocloc has no --version; it writes a file that is named after the question.
Result<std::string> query_version(const ToolSession& session, std::string_view tool) {
  CLBIN_TRY(session.run_step(tool, {"query", k_version_query}));
  CLBIN_TRY_ASSIGN(const auto bytes, session.read_output(tool, k_version_query));
  return std::string(base::as_text(bytes));
}

Result<void> compile_intel(const ToolSession& session, const FamilyRequest& request,
                           BuildReply& reply) {
  CLBIN_TRY_ASSIGN(const auto words, unit_words(request, k_intel_rules, reply));
  CLBIN_TRY_ASSIGN(const std::string text, ocloc_options(words));
  CLBIN_TRY_ASSIGN(const bool is_compiled, run_ocloc(session, request.target, text, reply));
  if (!is_compiled) {
    return {};
  }
  auto output = session.read_output("ocloc", "out/kernel");
  if (!output) { // ocloc 26 appends the suffix nevertheless
    output = session.read_output("ocloc", "out/kernel.bin");
  }
  CLBIN_TRY_ASSIGN(auto zebin, std::move(output));
  CLBIN_TRY_ASSIGN(auto kernels, read_zebin(zebin));
  CLBIN_TRY(require_match(request.target, zebin));
  CLBIN_TRY_ASSIGN(const auto undefined, undefined_symbols_of_zebin(zebin));
  CLBIN_TRY(require_resolved(undefined));
  reply.binary = std::move(zebin);
  reply.kernels = std::move(kernels);
  return {};
}

} // namespace

Result<std::string> ocloc_options(const Words& words) {
  std::string text = fmt::format("-cl-kernel-arg-info -I {}", k_header_folder);
  for (const std::string& word : words) {
    if (word.starts_with("-U") || word.find_first_of(" \t\n\"'\\") != std::string::npos) {
      return fail(ErrorCode::invalid_argument, "ocloc does not accept the option '{}'", word);
    }
    text += " " + word;
  }
  return text;
}

std::string build_log_of(std::string_view ocloc_output) {
  // ocloc's front end compiles a string, which it calls "1".
  constexpr std::string_view k_main = "1:";
  constexpr std::string_view k_included = "In file included from ";
  std::string log;
  while (!ocloc_output.empty()) {
    std::string_view line = take_line(ocloc_output);
    if (is_about_itself(line)) {
      continue;
    }
    if (line.starts_with(k_included)) {
      log += k_included;
      line.remove_prefix(k_included.size());
    }
    if (line.starts_with(k_main)) {
      log += k_main_file;
      line.remove_prefix(1);
    }
    log += line;
    log += '\n';
  }
  return log;
}

Result<std::vector<std::string>> undefined_symbols_of_zebin(ByteView zebin) {
  constexpr std::uint32_t k_symbol_table = 2;
  constexpr std::uint32_t k_string_table = 3; // of which a zebin has one
  const auto object = format::parse_elf(zebin);
  if (!object || object->address_bits != 64) {
    return fail(ErrorCode::damaged, "ocloc wrote no 64-bit ELF file");
  }
  const auto section = [&](std::uint32_t type) {
    const auto found = std::ranges::find(object->sections, type, &format::ElfSection::type);
    return found == object->sections.end() ? ByteView() : found->bytes;
  };
  const std::string_view names = base::as_text(section(k_string_table));
  std::vector<std::string> undefined;
  ByteReader reader(section(k_symbol_table), "symbol table of a zebin");
  while (reader.remaining() != 0) {
    CLBIN_TRY_ASSIGN(const format::ElfSymbol symbol, format::read_elf_symbol(reader));
    if (symbol.name == 0 || symbol.section != 0 || symbol.name >= names.size()) {
      continue;
    }
    const std::string_view name =
        names.substr(symbol.name, names.find('\0', symbol.name) - symbol.name);
    if (!is_of_driver(name)) {
      undefined.emplace_back(name);
    }
  }
  return undefined;
}

const FamilyCompiler k_intel_compiler = {intel_tools, compile_intel, nullptr,
                                         nullptr,     query_version, ocloc_releases};

} // namespace oclcc::offline
