#include "offline/clang_front_end.hpp"

#include "base/file_io.hpp"
#include "format/binary/binary_kernels.hpp"
#include "format/binary/binary_kind.hpp"
#include "format/binary/elf_object.hpp"
#include "offline/tools.hpp"

#include "opencl/driver.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace oclcc::offline {

using clbin::base::ByteReader;
using clbin::base::ByteView;
using clbin::base::ErrorCode;
using clbin::base::fail;
using clbin::base::Result;

namespace {

constexpr const char* k_version_query = "OCL_DRIVER_VERSION";
// ocloc ends with the status of clBuildProgram, -11.
constexpr int k_status_build_failure = 256 + CL_BUILD_PROGRAM_FAILURE;

// What ocloc 22.43 accepts. It is the compiler of Intel's driver.
const std::array k_intel_rules = {
    OptionRule{"-cl-std=CL1.0"},
    OptionRule{"-cl-std=CL1.1"},
    OptionRule{"-cl-std=CL1.2"},
    OptionRule{"-cl-std=CL2.0"},
    OptionRule{"-cl-std=CL3.0"},
    OptionRule{"-cl-std=", OptionEffect::refuse},
    OptionRule{"-cl-single-precision-constant"},
    OptionRule{"-cl-mad-enable"},
    OptionRule{"-cl-no-signed-zeros"},
    OptionRule{"-cl-finite-math-only"},
    OptionRule{"-cl-unsafe-math-optimizations"},
    OptionRule{"-cl-fast-relaxed-math"},
    OptionRule{"-cl-denorms-are-zero"},
    OptionRule{"-cl-fp32-correctly-rounded-divide-sqrt"},
    OptionRule{"-cl-uniform-work-group-size"},
    OptionRule{"-cl-no-subgroup-ifp"},
    OptionRule{"-cl-opt-disable"},
    OptionRule{"-cl-strict-aliasing"},
    OptionRule{"-cl-intel-greater-than-4GB-buffer-required"},
    OptionRule{"-cl-kernel-arg-info", OptionEffect::ignore}, // always on
};

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
Result<std::vector<clbin::format::KernelReflection>> read_zebin(ByteView zebin) {
  constexpr std::uint32_t k_section_ze_info = 0xff000011U;
  const auto object = clbin::format::parse_elf(zebin);
  if (!object ||
      clbin::format::classify_binary(zebin).kind != clbin::format::BinaryKind::intel_zebin) {
    return fail(ErrorCode::damaged, "ocloc did not write a zebin");
  }
  const bool has_kernels = std::any_of(
      object->sections.begin(), object->sections.end(),
      [](const clbin::format::ElfSection& one) { return one.type == k_section_ze_info; });
  if (!has_kernels) {
    return std::vector<clbin::format::KernelReflection>();
  }
  return clbin::format::read_zebin_kernels(zebin);
}

class IntelCompiler final : public FamilyCompiler {
public:
  [[nodiscard]] std::vector<ToolRow> tools_for(const OfflineTarget& /*target*/) const override {
    return {{{{"ocloc", "ocloc", "intel-opencl-icd", {}, {"22.43"}}}, "12"}};
  }

  // ocloc has no --version; it writes a file that is named after the question.
  [[nodiscard]] Result<std::string> print_version(const ToolSession& session,
                                                  std::string_view tool) const override {
    CLBIN_TRY(run_step(session, tool, {"query", k_version_query}));
    CLBIN_TRY_ASSIGN(const auto bytes, session.read_output(tool, k_version_query));
    return std::string(clbin::base::as_text(bytes));
  }

  [[nodiscard]] Result<void> compile(const ToolSession& session,
                                     const std::filesystem::path& /*shared*/,
                                     const OfflineTarget& target,
                                     const std::vector<std::string>& options,
                                     BuildReply& reply) const override {
    CLBIN_TRY_ASSIGN(const auto words, unit_words(options, k_intel_rules, target, reply));
    CLBIN_TRY_ASSIGN(const std::string text, ocloc_options(words));
    CLBIN_TRY_ASSIGN(const bool is_compiled, run_ocloc(session, target, text, reply));
    if (!is_compiled) {
      return {};
    }
    CLBIN_TRY_ASSIGN(auto zebin, session.read_output("ocloc", "out/kernel"));
    CLBIN_TRY_ASSIGN(auto kernels, read_zebin(zebin));
    CLBIN_TRY_ASSIGN(const auto undefined, undefined_symbols_of_zebin(zebin));
    CLBIN_TRY(require_resolved(undefined));
    reply.binary = std::move(zebin);
    reply.kernels = std::move(kernels);
    return {};
  }
};

} // namespace

Result<std::string> ocloc_options(const std::vector<std::string>& words) {
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
  const auto object = clbin::format::parse_elf(zebin);
  if (!object || object->address_bits != 64) {
    return fail(ErrorCode::damaged, "ocloc wrote no 64-bit ELF file");
  }
  const auto section = [&](std::uint32_t type) {
    const auto found =
        std::find_if(object->sections.begin(), object->sections.end(),
                     [&](const clbin::format::ElfSection& one) { return one.type == type; });
    return found == object->sections.end() ? ByteView() : found->bytes;
  };
  const std::string_view names = clbin::base::as_text(section(k_string_table));
  std::vector<std::string> undefined;
  ByteReader reader(section(k_symbol_table), "symbol table of a zebin");
  while (reader.remaining() != 0) {
    CLBIN_TRY_ASSIGN(const std::uint32_t name, reader.read_u32("st_name"));
    CLBIN_TRY(reader.read_u16("st_info and st_other"));
    CLBIN_TRY_ASSIGN(const std::uint16_t defined_in, reader.read_u16("st_shndx"));
    CLBIN_TRY(reader.read_u64("st_value"));
    CLBIN_TRY(reader.read_u64("st_size"));
    if (name != 0 && defined_in == 0 && name < names.size()) {
      undefined.emplace_back(names.substr(name, names.find('\0', name) - name));
    }
  }
  return undefined;
}

const FamilyCompiler& intel_compiler() {
  static const IntelCompiler k_compiler;
  return k_compiler;
}

} // namespace oclcc::offline
