// Each kind of binary has a program that writes its instructions as text. Where the program cannot
// select a kernel, its lines are taken out of the whole text.
#include "targets/disassembler.hpp"

#include "format/binary/elf_object.hpp"

#include <fmt/format.h>

namespace oclcc::offline {

using base::ByteView;
using format::BinaryKind;

namespace {

constexpr const char* k_binary_file = "binary";
constexpr const char* k_text_file = "text";
constexpr const char* k_printed_file = "output"; // by ToolSession::run

enum class LastLine : std::uint8_t { included, left_out };

// Where the lines of a kernel are in a text.
struct KernelLines {
  std::string first; // a part of its first line
  std::string last;  // the beginning of its last line, or of the line behind it
  LastLine last_line = LastLine::included;
};

// Returns an empty text if no line contains `lines.first`.
std::string take_kernel(std::string_view text, const KernelLines& lines) {
  std::string taken;
  bool is_inside = false;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    const bool is_last = is_inside && line.starts_with(lines.last);
    if (!is_inside || (is_last && lines.last_line == LastLine::left_out)) {
      is_inside = line.find(lines.first) != std::string_view::npos;
    }
    if (is_inside) {
      taken += line;
      taken += '\n';
    }
    is_inside = is_inside && !(is_last && lines.last_line == LastLine::included);
  }
  return taken;
}

// One binary, in the folder of a session.
struct Work {
  const ToolSession& session;
  ByteView binary;
  const std::string& kernel; // empty: all
};

Result<std::string> text_in(const Work& work, const char* tool, const char* file) {
  CLBIN_TRY_ASSIGN(const base::Bytes bytes, work.session.read_output(tool, file));
  return std::string(base::as_text(bytes));
}

// Returns what the tool prints.
Result<std::string> printed_by(const Work& work, const char* tool, const Words& arguments) {
  CLBIN_TRY(work.session.run_step(tool, arguments));
  return text_in(work, tool, k_printed_file);
}

// Returns what the tool writes to the file of -o.
Result<std::string> written_by(const Work& work, const char* tool, const Words& arguments) {
  CLBIN_TRY(work.session.run_step(tool, arguments + Words{"-o", k_text_file, k_binary_file}));
  return text_in(work, tool, k_text_file);
}

std::string chosen(std::string_view text, const Work& work, const KernelLines& lines) {
  return work.kernel.empty() ? std::string(text) : take_kernel(text, lines);
}

Result<std::string> ptx_text(const Work& work) {
  const std::string_view text = base::as_text(work.binary);
  return chosen(text.substr(0, text.find('\0')), work,
                {fmt::format(".entry {}(", work.kernel), "}"});
}

Result<std::string> cubin_text(const Work& work) {
  CLBIN_TRY_ASSIGN(
      const std::string text,
      printed_by(work, "nvdisasm", {"--print-code", "--print-line-info", k_binary_file}));
  return chosen(text, work,
                {fmt::format("- .text.{} -", work.kernel), "//------", LastLine::left_out});
}

Result<std::string> objdump_text(const Work& work, const Words& symbols) {
  Words words{"--disassemble", "--line-numbers"};
  if (!work.kernel.empty()) {
    words = {"--line-numbers", fmt::format("--disassemble-symbols={}", fmt::join(symbols, ","))};
  }
  CLBIN_TRY_ASSIGN(const std::string text,
                   printed_by(work, "llvm-objdump", words + Words{k_binary_file}));
  const bool has_code = text.find("\nDisassembly of section") != std::string::npos;
  return has_code ? text : std::string();
}

Result<std::string> amd_text(const Work& work) {
  return objdump_text(work, {work.kernel});
}

Result<std::string> spirv_text(const Work& work) {
  CLBIN_TRY_ASSIGN(const std::string text, written_by(work, "spirv-dis", {"--no-indent"}));
  // An entry point calls the exported function of the same name.
  return chosen(text, work, {fmt::format("%{} = OpFunction ", work.kernel), "OpFunctionEnd"});
}

Result<std::string> bitcode_text(const Work& work) {
  CLBIN_TRY_ASSIGN(const std::string text, written_by(work, "llvm-dis", {}));
  return chosen(text, work, {fmt::format(" @{}(", work.kernel), "}"});
}

// ocloc names files as the sections, in a folder that exists.
Result<std::string> zebin_text(const Work& work) {
  const auto object = format::parse_elf(work.binary);
  if (!object || base::as_text(object->names).find('/') != std::string_view::npos) {
    return fail(ErrorCode::damaged, "the zebin has a section whose name contains a slash");
  }
  const std::filesystem::path folder = work.session.folder() / "sections";
  std::error_code error;
  std::filesystem::create_directory(folder, error);
  CLBIN_TRY(
      work.session.run_step("ocloc", {"disasm", "-file", k_binary_file, "-dump", "sections"}));
  std::set<std::string> files;
  for (const auto& file : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = file.path().filename().string();
    const bool is_wanted = work.kernel.empty() || name == fmt::format(".text.{}.asm", work.kernel);
    if (name.starts_with(".text.") && name.ends_with(".asm") && is_wanted) {
      files.insert(name);
    }
  }
  std::string text;
  for (const std::string& file : files) {
    CLBIN_TRY_ASSIGN(const auto part, text_in(work, "ocloc", ("sections/" + file).c_str()));
    text += fmt::format("// {}\n{}\n", file.substr(0, file.rfind('.')), part);
  }
  return text;
}

// A binary of PoCL contains one or more shared objects for each kernel. Its format differs from
// release to release.
Result<std::string> pocl_text(const Work& work) {
  std::string text;
  for (const format::ElfObject& object : format::elf_objects_inside(work.binary)) {
    CLBIN_TRY(work.session.write_input(k_binary_file, base::as_text(object.file)));
    const std::string symbol = fmt::format("_pocl_kernel_{}_workgroup", work.kernel);
    CLBIN_TRY_ASSIGN(const auto part, objdump_text(work, {symbol, symbol + "_fast"}));
    text += part;
  }
  return text;
}

// The package has one name in Debian 12 and 13.
std::vector<ToolRow> rows_of(const ToolRow::Tool& tool) {
  return {{{tool}, "12"}, {{tool}, "13"}};
}

// A newer release knows the processors of an older one. The plain name may be of any release.
std::vector<ToolRow> llvm_rows(const std::string& tool) {
  std::vector<ToolRow> rows;
  for (unsigned release = 23; release >= 15; --release) {
    rows.push_back({{{tool, fmt::format("{}-{}", tool, release), {}}}});
  }
  std::ranges::move(rows_of({tool, tool, "llvm-19"}), std::back_inserter(rows));
  return rows;
}

struct DisassemblerRow {
  BinaryKind kind;
  Result<std::string> (*text_of)(const Work& work);
  std::vector<ToolRow> (*tools)();
};
const DisassemblerRow k_disassemblers[] = {
    {BinaryKind::ptx, ptx_text, [] { return std::vector<ToolRow>(); }},
    {BinaryKind::cubin, cubin_text,
     [] {
       return std::vector<ToolRow>{
           {{{"nvdisasm", "nvdisasm", {}, {"/usr/local/cuda/bin", "/opt/cuda/bin"}}}}};
     }},
    {BinaryKind::amd_code_object, amd_text, [] { return llvm_rows("llvm-objdump"); }},
    {BinaryKind::poclbin, pocl_text, [] { return llvm_rows("llvm-objdump"); }},
    {BinaryKind::intel_zebin, zebin_text,
     [] { // ocloc loads the library by its name without a version
       return std::vector<ToolRow>{
           {{{"ocloc", "ocloc", "intel-opencl-icd"},
             {"iga", "/usr/lib/x86_64-linux-gnu/libiga64.so", "libigc-dev"}},
            "12"}};
     }},
    {BinaryKind::spirv, spirv_text,
     [] {
       return rows_of({"spirv-dis", "spirv-dis", "spirv-tools"});
     }},
    {BinaryKind::llvm_bitcode, bitcode_text, [] { return llvm_rows("llvm-dis"); }}};

} // namespace

std::vector<ToolRow> disassembly_tools() {
  std::vector<ToolRow> all;
  for (const DisassemblerRow& row : k_disassemblers) {
    std::ranges::move(row.tools(), std::back_inserter(all));
  }
  return all;
}

bool can_disassemble(BinaryKind kind) {
  return std::ranges::find(k_disassemblers, kind, &DisassemblerRow::kind) !=
         std::end(k_disassemblers);
}

Result<std::string> disassemble(ByteView binary, const std::string& kernel, const ToolPaths& given,
                                const worker::WorkerSettings& settings,
                                std::chrono::seconds timeout) {
  const format::BinaryInfo info = format::classify_binary(binary);
  const auto* const row = std::ranges::find(k_disassemblers, info.kind, &DisassemblerRow::kind);
  if (row == std::end(k_disassemblers)) {
    return fail(ErrorCode::no_matching_entry, "no program that disassembles it is known: {}",
                describe(info));
  }
  const std::vector<ToolRow> rows = row->tools();
  ToolPaths tools;
  if (!rows.empty()) {
    CLBIN_TRY_ASSIGN(tools, find_tools("--disassemble", rows, given, debian_release()));
  }
  CLBIN_TRY_ASSIGN(const ToolSession session,
                   ToolSession::start(tools, settings, timeout, "disassembly-"));
  CLBIN_TRY(session.write_input(k_binary_file, base::as_text(binary)));
  CLBIN_TRY_ASSIGN(std::string text, row->text_of({session, binary, kernel}));
  if (text.empty()) {
    return fail(ErrorCode::no_matching_entry, "{} contains no instructions of {}", describe(info),
                kernel.empty() ? "kernels" : fmt::format("a kernel '{}'", kernel));
  }
  return text;
}

} // namespace oclcc::offline
