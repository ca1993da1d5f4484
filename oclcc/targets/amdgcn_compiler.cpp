#include "targets/clang_front_end.hpp"

#include "format/binary/binary_kernels.hpp"
#include "targets/embedded_files.hpp"
#include "targets/llvm_ir.hpp"

#include <fmt/format.h>

namespace oclcc::offline {

namespace {

// The highest that clang 15 and rocm-device-libs 5.2.3 have in common and that drivers since ROCm
// 4.2 load.
constexpr const char* k_code_object_version = "4";

constexpr const char* k_flush_f32 = "-fdenormal-fp-math-f32=preserve-sign,preserve-sign";

// AMD's driver compiles OpenCL C 1.0 and 1.1 as 1.2, and has no 3.0 (ROCclr, devprogram.cpp).
const OptionRule k_amdgcn_rules[] = {
    {"-cl-std=CL1.0", OptionEffect::pass, {"-cl-std=CL1.2"}},
    {"-cl-std=CL1.1", OptionEffect::pass, {"-cl-std=CL1.2"}},
    {"-cl-std=CL1.2"},
    {"-cl-std=CL2.0"},
    {"-cl-std=", OptionEffect::refuse},
    {k_correct_rounding},
    {k_flush_denormals, OptionEffect::pass, {k_flush_f32}},
};

// The processor of a target ID: "gfx90a" of "gfx90a:sramecc+:xnack-".
std::string processor_of(const OfflineTarget& target) {
  return target.architecture.substr(0, target.architecture.find(':'));
}

bool is_gfx8(const OfflineTarget& target) {
  return processor_of(target) == "gfx803";
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
                              processor_of(target), k_code_object_version)) +
         feature_words(target);
}

// What AMD's driver defines, besides clang (ROCclr, Program::ProcessOptions; its devices of GFX8
// have version 1.2).
Words language_words(const OfflineTarget& target) {
  return {fmt::format("-D__OPENCL_VERSION__={}", is_gfx8(target) ? 120 : 200),
          "-D__IMAGE_SUPPORT__=1", "-cl-ext=+cl_khr_depth_images,+cl_khr_subgroups"};
}

// AMD's link order. The files oclc_* contain one constant each, which the others test.
Words library_words(const ToolSession& session, const FamilyRequest& request) {
  const auto& [target, options, shared] = request;
  const auto word_of = [](bool is_on) { return is_on ? "on" : "off"; };
  const bool is_relaxed = has(options, k_relaxed_math);
  const std::array names = {
      std::string("opencl"),
      std::string("ocml"),
      std::string("ockl"),
      fmt::format("oclc_daz_opt_{}", word_of(is_gfx8(target) || has(options, k_flush_denormals))),
      fmt::format("oclc_unsafe_math_{}", word_of(is_relaxed || has(options, k_unsafe_math))),
      fmt::format("oclc_finite_only_{}", word_of(is_relaxed || has(options, k_finite_math))),
      fmt::format("oclc_correctly_rounded_sqrt_{}", word_of(has(options, k_correct_rounding))),
      fmt::format("oclc_wavefrontsize64_{}", word_of(!target.architecture.starts_with("gfx10"))),
      fmt::format("oclc_isa_version_{}", processor_of(target).substr(3)), // after "gfx"
      fmt::format("oclc_abi_version_{}00", k_code_object_version)};
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

// Optimizes the program as AMD's driver does, which is when printf is lowered: before the libraries
// are linked, and with them. `words` are those of both steps.
Result<void> make_object(const ToolSession& session, const Words& words, const Words& libraries) {
  CLBIN_TRY(
      session.run_step("clang", words_of("-cc1") + words +
                                    words_of("-w -emit-llvm-bc -o kernel.bc -x ir callable.ll")));
  // clang 15 links libraries only with a source file. AMD's have no typed pointers.
  CLBIN_TRY(session.write_input("empty.cl", {}));
  Words with_opaque_pointers = words;
  std::erase(with_opaque_pointers, k_typed_pointers);
  return session.run_step(
      "clang", words_of("-cc1") + with_opaque_pointers + words_of("-mlink-bitcode-file kernel.bc") +
                   libraries +
                   words_of("-mllvm -amdgpu-internalize-symbols -w -emit-obj -o kernel.o -x cl "
                            "empty.cl"));
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

std::vector<ToolRow> amdgcn_tools(const OfflineTarget& /*target*/) {
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
  const FrontEndCall call{common + language_words(target) +
                              Words{"-disable-llvm-passes", "-emit-llvm", "-o", "kernel.ll"},
                          words, std::string(amdgcn_language())};
  CLBIN_TRY_ASSIGN(const bool is_compiled, run_front_end(session, call, reply));
  if (!is_compiled) {
    return {};
  }
  CLBIN_TRY_ASSIGN(const auto ir, session.read_output("clang", "kernel.ll"));
  CLBIN_TRY(require_constant_strings(base::as_text(ir)));
  CLBIN_TRY(session.write_input("callable.ll", with_callable_kernels(base::as_text(ir))));
  CLBIN_TRY(make_object(session, common + words, library_words(session, request)));
  CLBIN_TRY(require_linked(session));
  CLBIN_TRY_ASSIGN(reply.binary, session.read_output("lld", "kernel.co"));
  CLBIN_TRY_ASSIGN(reply.kernels, format::read_amd_kernels(reply.binary));
  return {};
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

const FamilyCompiler k_amdgcn_compiler = {amdgcn_tools, compile_amdgcn, pointers_preparation,
                                          ask_for_typed_pointers};

} // namespace oclcc::offline
