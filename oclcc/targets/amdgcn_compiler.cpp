#include "targets/clang_front_end.hpp"

#include "format/binary/binary_kernels.hpp"
#include "targets/embedded_files.hpp"
#include "targets/llvm_ir.hpp"

#include <fmt/format.h>

namespace oclcc::offline {

namespace {

// The first release of clang that has the processors, of those newer than clang 15.
struct NewProcessors {
  std::string_view names;
  unsigned first_clang;
};
constexpr NewProcessors k_new_processors[] = {
    {"gfx942 gfx1100 gfx1101 gfx1102 gfx1103 gfx1150 gfx1151", 17},
    {"gfx1200 gfx1201", 18},
    {"gfx1152 gfx9-generic gfx10-1-generic gfx10-3-generic gfx11-generic gfx12-generic", 19},
    {"gfx950 gfx1153 gfx9-4-generic", 20},
};

constexpr const char* k_flush_f32 = "-fdenormal-fp-math-f32=preserve-sign,preserve-sign";

// AMD's driver compiles OpenCL C 1.0 and 1.1 as 1.2 (ROCclr, devprogram.cpp). It has no 3.0, which
// is compiled here with what clang announces for the processors.
const OptionRule k_amdgcn_rules[] = {
    {"-cl-std=CL1.0", OptionEffect::pass, {"-cl-std=CL1.2"}},
    {"-cl-std=CL1.1", OptionEffect::pass, {"-cl-std=CL1.2"}},
    {k_correct_rounding},
    {k_flush_denormals, OptionEffect::pass, {k_flush_f32}},
    {"-g",
     OptionEffect::pass,
     {"-debug-info-kind=line-tables-only", "-dwarf-version=4", "-fdebug-compilation-dir=."}},
};

// The processor of a target ID: "gfx90a" of "gfx90a:sramecc+:xnack-".
std::string processor_of(const OfflineTarget& target) {
  return target.architecture.substr(0, target.architecture.find(':'));
}

bool is_gfx8(const OfflineTarget& target) {
  return processor_of(target) == "gfx803";
}

// clang 15 knows gfx1100 to gfx1103, too, but was released before them. The releases that oclcc
// uses for version 6 of the code object begin with 19.
unsigned first_clang(const OfflineTarget& target) {
  const std::string processor = processor_of(target);
  const auto* const found =
      std::ranges::find_if(k_new_processors, [&](const NewProcessors& processors) {
        return has(words_of(processors.names), processor);
      });
  const unsigned of_version = target.code_object > 4 ? 19 : 0;
  return std::max(of_version, found == std::end(k_new_processors) ? 0 : found->first_clang);
}
Releases releases_with(const OfflineTarget& target) {
  return {first_clang(target)};
}
bool is_new(const OfflineTarget& target) {
  return first_clang(target) != 0;
}

// Wavefronts have 32 work-items from GFX10 on.
bool has_wide_wavefronts(const OfflineTarget& target) {
  return target.architecture.starts_with("gfx8") || target.architecture.starts_with("gfx9");
}

// The devices of these processors report no images.
bool has_images(const OfflineTarget& target) {
  constexpr std::string_view k_without[] = {"gfx942", "gfx950", "gfx9-4-generic"};
  return std::ranges::find(k_without, processor_of(target)) == std::end(k_without);
}

// Returns the value of __oclc_ISA_version for a new processor: 1000 times the major version, and
// 100 times the minor one. Of a generic processor, that of the processor whose functions its other
// processors have, too.
unsigned isa_version(const OfflineTarget& target) {
  constexpr std::pair<std::string_view, unsigned> k_generic[] = {
      {"gfx9-generic", 9000},     {"gfx9-4-generic", 9402}, {"gfx10-1-generic", 10100},
      {"gfx10-3-generic", 10300}, {"gfx11-generic", 11003}, {"gfx12-generic", 12000}};
  const std::string processor = processor_of(target);
  for (const auto& [name, version] : k_generic) {
    if (name == processor) {
      return version;
    }
  }
  const auto info = format::parse_amd_target(processor).value_or(format::BinaryInfo{});
  return info.arch_major * 1000U + info.arch_minor * 100U + info.arch_stepping;
}

// Returns the source with which the libraries are linked. It defines the two constants that
// rocm-device-libs 5.2.3 has for old processors only.
std::string constants_text(const OfflineTarget& target) {
  return is_new(target) ? fmt::format("const __constant int __oclc_ISA_version = {};\n"
                                      "const __constant int __oclc_ABI_version = {};\n",
                                      isa_version(target), 100 * code_object_version(target))
                        : std::string();
}

// "+sramecc", "-xnack"
Words feature_words(const OfflineTarget& target) {
  Words words;
  std::string_view rest = target.architecture;
  for (std::size_t colon = rest.find(':'); colon != std::string_view::npos;
       colon = rest.find(':')) {
    rest.remove_prefix(colon + 1);
    const std::string_view setting = rest.substr(0, rest.find(':'));
    words.push_back("-target-feature");
    words.push_back(fmt::format("{}{}", setting.back(), setting.substr(0, setting.size() - 1)));
  }
  return words;
}

Words amd_target_words(const OfflineTarget& target) {
  return words_of(fmt::format("-triple amdgcn-amd-amdhsa -target-cpu {} -mcode-object-version={} "
                              "-mframe-pointer=none -O3 -vectorize-loops -vectorize-slp",
                              processor_of(target), code_object_version(target))) +
         feature_words(target);
}

// What AMD's driver defines, besides clang (ROCclr, Program::ProcessOptions; its devices of GFX8
// have version 1.2).
Words language_words(const OfflineTarget& target, const Words& options) {
  Words words = {fmt::format("-D__OPENCL_VERSION__={}", is_gfx8(target) ? 120 : 200)};
  std::string extensions = "-cl-ext=+cl_khr_depth_images,+cl_khr_subgroups";
  if (has_images(target)) {
    words.push_back("-D__IMAGE_SUPPORT__=1");
  } else if (has(options, "-cl-std=CL3.0")) {
    extensions += ",-__opencl_c_images,-__opencl_c_3d_image_writes,-cl_khr_3d_image_writes";
  }
  words.push_back(extensions);
  return words;
}

// AMD's link order. The files oclc_* contain one constant each, which the others test.
Words library_words(const ToolSession& session, const FamilyRequest& request) {
  const OfflineTarget& target = request.target;
  const Words& options = request.options;
  const auto word_of = [](bool is_on) { return is_on ? "on" : "off"; };
  const bool is_relaxed = has(options, k_relaxed_math);
  Words names = {
      std::string("opencl"),
      std::string("ocml"),
      std::string("ockl"),
      fmt::format("oclc_daz_opt_{}", word_of(is_gfx8(target) || has(options, k_flush_denormals))),
      fmt::format("oclc_unsafe_math_{}", word_of(is_relaxed || has(options, k_unsafe_math))),
      fmt::format("oclc_finite_only_{}", word_of(is_relaxed || has(options, k_finite_math))),
      fmt::format("oclc_correctly_rounded_sqrt_{}", word_of(has(options, k_correct_rounding))),
      fmt::format("oclc_wavefrontsize64_{}", word_of(has_wide_wavefronts(target)))};
  if (!is_new(target)) { // otherwise constants_text defines them
    names.push_back(fmt::format("oclc_isa_version_{}", processor_of(target).substr(3))); // "gfx"
    names.push_back(fmt::format("oclc_abi_version_{}00", code_object_version(target)));
  }
  Words words;
  for (const std::string& name : names) {
    words.push_back("-mlink-builtin-bitcode");
    words.push_back((session.path("rocm-device-libs") / (name + ".bc")).string());
  }
  return words;
}

// LLVM 15 lowers printf only with typed pointers, and later versions have none. `shared` is the
// file of prepare().
Result<Words> pointer_words(const std::filesystem::path& shared) {
  CLBIN_TRY_ASSIGN(const bool is_typed, has_typed_pointers(shared));
  return is_typed ? Words{k_typed_pointers, "-fvisibility", "hidden"}
                  : Words{"-fvisibility=hidden"};
}

Result<void> require_linked(const ToolSession& session) {
  CLBIN_TRY_ASSIGN(const ToolRun run,
                   session.run("lld", {"-shared", "--no-undefined", "--no-demangle",
                                       "--error-limit=0", "-o", "kernel.co", "kernel.o"}));
  if (run.exit_status == 0) {
    return {};
  }
  CLBIN_TRY(require_resolved(undefined_symbols(run.output)));
  return fail(ErrorCode::internal, "{}", failure_text("lld", run));
}

// Returns what a program is compiled with before AMD's libraries are linked. It is optimized with
// them, as AMD's driver does: without them, LLVM can unroll loops around calls of their functions
// until the back end takes minutes. The optimization also lowers printf to calls of the libraries,
// hence a program with printf is optimized before, too.
Words words_before_linking(std::string_view ir) {
  return ir.find(" @printf(") == std::string_view::npos ? Words{"-disable-llvm-passes"} : Words{};
}

// `words` are those of both steps, `before_linking` those of the first one alone.
Result<void> make_object(const ToolSession& session, const Words& words,
                         const Words& before_linking, const Words& libraries,
                         const std::string& constants) {
  CLBIN_TRY(
      session.run_step("clang", words_of("-cc1") + words + before_linking +
                                    words_of("-w -emit-llvm-bc -o kernel.bc -x ir callable.ll")));
  // clang 15 links libraries only with a source file. AMD's have no typed pointers.
  CLBIN_TRY(session.write_input("constants.cl", constants));
  Words with_opaque_pointers = words;
  std::erase(with_opaque_pointers, k_typed_pointers);
  return session.run_step(
      "clang", words_of("-cc1") + with_opaque_pointers + words_of("-mlink-bitcode-file kernel.bc") +
                   libraries +
                   words_of("-mllvm -amdgpu-internalize-symbols -w -emit-obj -o kernel.o -x cl "
                            "constants.cl"));
}

// Whether a value of a call is a pointer to constant memory and not a constant.
bool has_computed_string(std::string_view call) {
  // With typed and with opaque pointers.
  constexpr std::string_view k_types[] = {"i8 addrspace(4)* ", "ptr addrspace(4) "};
  constexpr std::string_view k_attribute = "noundef ";
  for (const std::string_view type : k_types) {
    for (std::size_t at = call.find(type); at != std::string_view::npos;
         at = call.find(type, at + 1)) {
      std::string_view value = call.substr(at + type.size());
      value.remove_prefix(value.starts_with(k_attribute) ? k_attribute.size() : 0);
      if (value.starts_with('%')) {
        return true;
      }
    }
  }
  return false;
}

// Of Debian 12 and 13.
constexpr const char* k_libraries_of_5 = "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode";
constexpr const char* k_libraries_of_17 = "/usr/lib/llvm-17/lib/clang/17/amdgcn/bitcode";

// Of releases that have all processors of today, with the libraries of both releases of Debian.
std::vector<ToolRow> tools_for_new(const OfflineTarget& target) {
  struct LibrariesOf {
    ClangRelease release;
    const char* path;
    const char* package;
  };
  constexpr LibrariesOf k_rows[] = {
      {{"19", "13"}, k_libraries_of_17, "rocm-device-libs-17"},
      {{"19", "12"}, k_libraries_of_5, "rocm-device-libs"},
      {{"22", "13"}, k_libraries_of_17, "rocm-device-libs-17"},
      {{"22", "12"}, k_libraries_of_5, "rocm-device-libs"},
  };
  std::vector<ToolRow> rows;
  for (const auto& [release, path, package] : k_rows) {
    if (release.version == "19" && first_clang(target) > 19) {
      continue;
    }
    rows.push_back(row_with_clang(release, {{"lld", release.name("ld.lld"), release.name("lld")},
                                            {"rocm-device-libs", path, package}}));
  }
  return rows;
}

std::vector<ToolRow> amdgcn_tools(const OfflineTarget& target) {
  if (is_new(target)) {
    return tools_for_new(target);
  }
  return rows_with_clang([](const ClangRelease& release) -> std::vector<ToolRow::Tool> {
    const bool is_first = release.version == k_clang_releases[0].version;
    return {{"lld", release.name("ld.lld"), release.name("lld")},
            {"rocm-device-libs", is_first ? k_libraries_of_5 : k_libraries_of_17,
             is_first ? "rocm-device-libs" : "rocm-device-libs-17"}};
  });
}

Result<void> compile_amdgcn(const ToolSession& session, const FamilyRequest& request,
                            BuildReply& reply) {
  const OfflineTarget& target = request.target;
  CLBIN_TRY_ASSIGN(Words words, unit_words(request, k_amdgcn_rules, reply));
  if (is_gfx8(target)) {
    words.insert(words.begin(), k_flush_f32); // slow otherwise; as the driver
  }
  CLBIN_TRY_ASSIGN(const Words pointers, pointer_words(request.shared));
  const Words common = amd_target_words(target) + pointers;
  const FrontEndCall call{common + language_words(target, words) +
                              Words{"-disable-llvm-passes", "-emit-llvm", "-o", "kernel.ll"},
                          words, std::string(amdgcn_language())};
  CLBIN_TRY_ASSIGN(const bool is_compiled, run_front_end(session, call, reply));
  if (!is_compiled) {
    return {};
  }
  CLBIN_TRY_ASSIGN(const auto written, session.read_output("clang", "kernel.ll"));
  const std::string ir = with_marked_generic_pointers(base::as_text(written));
  CLBIN_TRY(require_constant_strings(ir));
  if (!has_images(target)) {
    CLBIN_TRY(require_no_images(ir, processor_of(target)));
  }
  CLBIN_TRY(session.write_input("callable.ll", with_callable_kernels(ir)));
  CLBIN_TRY(make_object(session, common + words, words_before_linking(ir),
                        library_words(session, request), constants_text(target)));
  CLBIN_TRY(require_linked(session));
  CLBIN_TRY_ASSIGN(reply.binary, session.read_output("lld", "kernel.co"));
  CLBIN_TRY_ASSIGN(reply.kernels, format::read_amd_kernels(reply.binary));
  return {};
}

// Returns the symbol of a line "declare … @_Z5fractfPf(…", otherwise nothing.
std::string_view declared_function(std::string_view line) {
  const std::size_t start = line.find("@_Z");
  if (!line.starts_with("declare ") || start == std::string_view::npos) {
    return {};
  }
  return line.substr(start, line.find('(', start) - start);
}

std::string with_marks(std::string_view symbol) {
  if (symbol.empty()) {
    return {};
  }
  const std::string name = source_name(symbol.substr(1));
  const std::size_t types = symbol.find(name) + name.size();
  std::string marked(symbol.substr(0, types));
  for (std::size_t at = types; at < symbol.size(); ++at) {
    marked += symbol[at];
    if (symbol[at] == 'P' && !symbol.substr(at).starts_with("PU3AS")) {
      marked += "U3AS0";
    }
  }
  return marked;
}

} // namespace

Result<void> require_constant_strings(std::string_view ir) {
  for (const std::string_view line : base::split_lines(ir)) {
    const std::size_t call = line.find(" @printf(");
    if (call != std::string_view::npos && line.starts_with("  ") &&
        has_computed_string(line.substr(call))) {
      return fail(ErrorCode::invalid_argument,
                  "printf: the format and each string must be constant on AMD's devices");
    }
  }
  return {};
}

std::string with_marked_generic_pointers(std::string_view ir) {
  std::map<std::string, std::string, std::less<>> names;
  for (const std::string_view line : base::split_lines(ir)) {
    const std::string_view symbol = declared_function(line);
    if (std::string marked = with_marks(symbol); marked != symbol) {
      names.emplace(symbol, std::move(marked));
    }
  }
  std::string text(ir);
  for (const auto& [symbol, marked] : names) {
    for (std::size_t at = text.find(symbol + "("); at != std::string::npos;
         at = text.find(symbol + "(", at + marked.size())) {
      text.replace(at, symbol.size(), marked);
    }
  }
  return text;
}

Result<void> require_no_images(std::string_view ir, std::string_view processor) {
  for (const std::string_view line : base::split_lines(ir)) {
    const std::string_view symbol = declared_function(line);
    if (symbol.find("ocl_image") != std::string_view::npos) {
      return fail(ErrorCode::invalid_argument, "'{}' is called, and {} has no images",
                  source_name(symbol.substr(1)), processor);
    }
  }
  return {};
}

std::vector<std::string> undefined_symbols(std::string_view lld_output) {
  constexpr std::string_view k_message = "error: undefined symbol: ";
  std::set<std::string> symbols;
  for (const std::string_view line : base::split_lines(lld_output)) {
    if (const std::size_t message = line.find(k_message); message != std::string_view::npos) {
      symbols.emplace(line.substr(message + k_message.size()));
    }
  }
  return {symbols.begin(), symbols.end()};
}

const FamilyCompiler k_amdgcn_compiler = {amdgcn_tools,         compile_amdgcn,
                                          pointers_preparation, ask_for_typed_pointers,
                                          print_version,        releases_with};

} // namespace oclcc::offline
