#include "format/binary/binary_kernels.hpp"
#include "opencl/driver.hpp"
#include "targets/clang_front_end.hpp"
#include "targets/llvm_ir.hpp"

#include <fmt/format.h>

namespace oclcc::offline {

namespace {

// Seen in the modules of clang 15 and llvm-spirv 15: math flags become decorations; the rest is the
// business of the driver that compiles the module.
const OptionRule k_spirv_rules[] = {
    {"-cl-std=CL1.0"},
    {k_flush_denormals, OptionEffect::warn},
    {k_correct_rounding, OptionEffect::warn},
    {"-g", OptionEffect::warn},
};

// Macros that clang defines for SPIR-V, although the functions behind them do not exist: a program
// that tests them would not compile. Modules are for the drivers of all vendors and use no
// extension of SPIR-V, because a driver without it refuses the module.
constexpr std::string_view k_untrue_macros[] = {
    "cl_amd_media_ops", "cl_amd_media_ops2", "cl_arm_integer_dot_product_accumulate_int16",
    "cl_arm_integer_dot_product_accumulate_int8",
    "cl_arm_integer_dot_product_accumulate_saturate_int8", "cl_arm_integer_dot_product_int8",
    "cl_intel_device_side_avc_motion_estimation", "cl_intel_subgroups", "cl_intel_subgroups_char",
    "cl_intel_subgroups_long", "cl_intel_subgroups_short",
    // SPV_EXT_shader_atomic_float_add and its kin
    "cl_ext_float_atomics", "__opencl_c_ext_fp16_global_atomic_add",
    "__opencl_c_ext_fp16_global_atomic_load_store", "__opencl_c_ext_fp16_global_atomic_min_max",
    "__opencl_c_ext_fp16_local_atomic_add", "__opencl_c_ext_fp16_local_atomic_load_store",
    "__opencl_c_ext_fp16_local_atomic_min_max", "__opencl_c_ext_fp32_global_atomic_add",
    "__opencl_c_ext_fp32_global_atomic_min_max", "__opencl_c_ext_fp32_local_atomic_add",
    "__opencl_c_ext_fp32_local_atomic_min_max", "__opencl_c_ext_fp64_global_atomic_add",
    "__opencl_c_ext_fp64_global_atomic_min_max", "__opencl_c_ext_fp64_local_atomic_add",
    "__opencl_c_ext_fp64_local_atomic_min_max",
    // SPV_KHR_bit_instructions, SPV_KHR_integer_dot_product, SPV_KHR_subgroup_rotate,
    // SPV_KHR_shader_clock
    "cl_khr_extended_bit_ops", "cl_khr_integer_dot_product",
    "__opencl_c_integer_dot_product_input_4x8bit",
    "__opencl_c_integer_dot_product_input_4x8bit_packed", "cl_khr_subgroup_rotate",
    "cl_khr_kernel_clock", "__opencl_c_kernel_clock_scope_device",
    "__opencl_c_kernel_clock_scope_work_group", "__opencl_c_kernel_clock_scope_sub_group",
    // clang 22
    "cl_intel_bfloat16_conversions", "cl_intel_required_subgroup_size",
    "cl_intel_subgroup_buffer_prefetch", "cl_intel_subgroup_local_block_io",
    "cl_khr_subgroup_named_barrier", "__opencl_c_ext_image_raw10_raw12",
    "__opencl_c_ext_image_unorm_int_2_101010", "__opencl_c_ext_image_unsigned_10x6_12x4_14x2",
    // llvm-spirv makes an instruction of it that is not valid.
    "cl_khr_mipmap_image_writes"};
// Of instructions that SPIR-V 1.3 introduced.
constexpr std::string_view k_macros_of_1_3[] = {"cl_khr_subgroup_ballot",
                                                "cl_khr_subgroup_clustered_reduce",
                                                "cl_khr_subgroup_non_uniform_arithmetic",
                                                "cl_khr_subgroup_non_uniform_vote",
                                                "cl_khr_subgroup_shuffle",
                                                "cl_khr_subgroup_shuffle_relative"};

// Returns a header that takes back the macros which are not true.
std::string spirv_language(const OfflineTarget& target) {
  std::string text = "#pragma clang system_header\n";
  for (const std::string_view macro : k_untrue_macros) {
    text += fmt::format("#undef {}\n", macro);
  }
  if (target.architecture < "1.3") {
    for (const std::string_view macro : k_macros_of_1_3) {
      text += fmt::format("#undef {}\n", macro);
    }
  }
  return text;
}

constexpr const char* k_bitcode_file = "kernel.bc";
constexpr const char* k_module_file = "kernel.spv";

// The target and its pointers: llvm-spirv 15 cannot translate opaque ones, and later versions of
// clang have no others.
Words common_words(const OfflineTarget& target, bool has_types) {
  const char* const triple =
      target.address_bits == 32 ? "spir-unknown-unknown" : "spir64-unknown-unknown";
  const Words words = {"-triple", triple, "-disable-llvm-passes"};
  return has_types ? words + Words{k_typed_pointers} : words;
}

Words conversion(const Words& common, const char* action, const char* output, const char* input) {
  return Words{"-cc1"} + common + Words{"-w", action, "-o", output, "-x", "ir", input};
}

// From kernel.bc to repaired.bc, as text in between, which takes as long as to compile.
Result<void> repair(const ToolSession& session, const Words& common) {
  CLBIN_TRY(
      session.run_step("clang", conversion(common, "-emit-llvm", "kernel.ll", k_bitcode_file)));
  CLBIN_TRY_ASSIGN(const auto ir, session.read_output("clang", "kernel.ll"));
  const std::string text = repaired_for_spirv(base::as_text(ir));
  CLBIN_TRY(session.write_input("repaired.ll", text));
  Words words = common;
  if (text.find(k_always_inline) != std::string::npos) {
    std::erase(words, "-disable-llvm-passes"); // at -O0, which is the default, only this one runs
  }
  return session.run_step("clang",
                          conversion(words, "-emit-llvm-bc", "repaired.bc", "repaired.ll"));
}

// spirv-val counts the lines of the module as assembly, which nobody has: "error: line 43: …".
std::string_view without_line(std::string_view message) {
  constexpr std::string_view k_error = "error: ";
  constexpr std::string_view k_line = "line ";
  message.remove_prefix(message.starts_with(k_error) ? k_error.size() : 0);
  if (message.starts_with(k_line)) {
    message.remove_prefix(std::min(message.find(": ") + 2, message.size()));
  }
  return message;
}

// Translates a file to a module. Returns why llvm-spirv failed, or why the module is not valid;
// std::nullopt if it is. Errors as for ToolSession.
Result<std::optional<std::string>> translate(const ToolSession& session,
                                             const OfflineTarget& target, const char* bitcode) {
  const auto run =
      session.run("llvm-spirv", {"--spirv-max-version=" + target.architecture,
                                 "--preserve-ocl-kernel-arg-type-metadata-through-string", "-o",
                                 k_module_file, bitcode});
  if (!run) {
    return run.error().message;
  }
  if (run->exit_status != 0) {
    return failure_text("llvm-spirv", *run);
  }
  CLBIN_TRY(session.read_output("llvm-spirv", k_module_file));
  CLBIN_TRY_ASSIGN(
      const ToolRun checked,
      session.run("spirv-val", {"--target-env", "spv" + target.architecture, k_module_file}));
  if (checked.exit_status != 0) {
    return fmt::format("llvm-spirv wrote a module that is not valid; spirv-val reports: {}",
                       without_line(reason_in(checked.output)));
  }
  return std::nullopt;
}

// What SPIR-V or llvm-spirv lacks: how the IR spells it, and a message.
struct Lack {
  std::string spelling;
  std::string message;
};

// Returns the word behind `mark`; empty if there is none.
std::string_view word_behind(std::string_view text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  const std::string_view rest =
      at == std::string_view::npos ? std::string_view() : text.substr(at + mark.size());
  return rest.substr(0, rest.find_first_of(" ,;:[\n"));
}

// Returns the extension of SPIR-V that a failure of llvm-spirv names; empty if it names none.
std::string extension_in(std::string_view failure) {
  constexpr std::string_view k_mark = " SPV_";
  const std::string_view word = word_behind(failure, k_mark);
  return word.empty() ? std::string() : fmt::format("{}{}", k_mark.substr(1), word);
}

std::string lack_of(std::string_view extension) {
  return fmt::format("it requires the extension {} of SPIR-V, which modules for all drivers do not "
                     "use",
                     extension);
}

// Returns what llvm-spirv can mean by a message such as "ended with 8: llvm.uadd.sat.i32 [Src: …]".
std::vector<Lack> lacks_in(std::string_view failure) {
  // Parts of the names of functions.
  constexpr std::pair<std::string_view, std::string_view> k_extensions[] = {
      {"SPV_INTEL_subgroups", "intel_sub_group_"},
      {"SPV_KHR_subgroup_rotate", "_rotate"},
      {"SPV_KHR_integer_dot_product", "ot"},
      {"SPV_EXT_shader_atomic_float", "tomic"},
  };
  std::vector<Lack> lacks;
  const std::string extension = extension_in(failure);
  for (const auto& [name, function] : k_extensions) {
    if (extension.starts_with(name)) {
      lacks.push_back({std::string(function), lack_of(extension)});
    }
  }
  if (const auto name = word_behind(failure, " llvm."); !name.empty()) {
    lacks.push_back({fmt::format("@llvm.{}(", name),
                     fmt::format("llvm-spirv does not translate the function 'llvm.{}'", name)});
  }
  if (const auto count = word_behind(failure, "Unsupported vector type with "); !count.empty()) {
    lacks.push_back(
        {fmt::format("<{} x ", count), fmt::format("SPIR-V has no vectors of {} elements", count)});
  }
  if (const auto bits = word_behind(failure, "Invalid bit width in input: "); !bits.empty()) {
    lacks.push_back(
        {fmt::format("i{} ", bits), fmt::format("SPIR-V has no integers of {} bits", bits)});
  }
  // llvm-spirv 15 crashes.
  lacks.push_back({" asm ", "SPIR-V has no inline assembly"});
  return lacks;
}

// Returns a diagnostic such as "kernel.cl:3:8: error: SPIR-V has no inline assembly", or an empty
// text. `ir` contains line tables.
std::string diagnostic_of(std::string_view failure, std::string_view ir) {
  for (const Lack& lack : lacks_in(failure)) {
    if (const std::string place = source_place(ir, lack.spelling); !place.empty()) {
      return fmt::format("{}: error: {}\n", place, lack.message);
    }
  }
  return {};
}

// Searches the source line of a failure. Returns whether it is a diagnostic of the reply now.
Result<bool> blame_source(const ToolSession& session, FrontEndCall call, std::string_view failure,
                          BuildReply& reply) {
  std::ranges::replace(call.words, "-emit-llvm-bc", "-emit-llvm");
  std::ranges::replace(call.words, k_bitcode_file, "lines.ll");
  call.words.emplace_back("-debug-info-kind=line-tables-only");
  BuildReply repeated;
  CLBIN_TRY_ASSIGN(const bool is_compiled, run_front_end(session, call, repeated));
  if (!is_compiled) {
    return false;
  }
  CLBIN_TRY_ASSIGN(const auto ir, session.read_output("clang", "lines.ll"));
  const std::string diagnostic = diagnostic_of(failure, base::as_text(ir));
  if (diagnostic.empty()) {
    return false;
  }
  reply.log += diagnostic;
  reply.cl_code = CL_BUILD_PROGRAM_FAILURE;
  reply.stage = "llvm-spirv";
  return true;
}

// From kernel.bc to a valid module. Returns false, with a diagnostic in the reply, if the source
// contains what cannot be translated.
Result<bool> make_module(const ToolSession& session, const OfflineTarget& target,
                         const Words& common, const FrontEndCall& call, BuildReply& reply) {
  CLBIN_TRY_ASSIGN(auto failure, translate(session, target, k_bitcode_file));
  if (failure) {
    CLBIN_TRY(repair(session, common));
    CLBIN_TRY_ASSIGN(failure, translate(session, target, "repaired.bc"));
  }
  if (!failure) {
    return true;
  }
  CLBIN_TRY_ASSIGN(const bool is_blamed, blame_source(session, call, *failure, reply));
  if (is_blamed) {
    return false;
  }
  if (const std::string extension = extension_in(*failure); !extension.empty()) {
    return fail(ErrorCode::invalid_argument, "{}", lack_of(extension));
  }
  return fail(ErrorCode::internal, "{}", *failure);
}

std::vector<ToolRow> spirv_tools(const OfflineTarget& /*target*/) {
  const auto others = [](const ClangRelease& release) -> std::vector<ToolRow::Tool> {
    return {{"llvm-spirv", release.name("llvm-spirv"), release.name("llvm-spirv")},
            {"spirv-val", "spirv-val", "spirv-tools"}};
  };
  constexpr ClangRelease k_newest = {"22", ""};
  auto rows = rows_with_clang(others);
  rows.push_back(row_with_clang(k_newest, others(k_newest)));
  return rows;
}

Result<void> compile_spirv(const ToolSession& session, const FamilyRequest& request,
                           BuildReply& reply) {
  const OfflineTarget& target = request.target;
  CLBIN_TRY_ASSIGN(auto words, unit_words(request, k_spirv_rules, reply));
  CLBIN_TRY_ASSIGN(const bool has_types, has_typed_pointers(request.shared));
  const Words common = common_words(target, has_types);
  // llvm-spirv 15 cannot translate `freeze`, which optimized code contains. The driver optimizes,
  // and unrolls. Without -funroll-loops, each loop has metadata of which llvm-spirv makes
  // OpLoopMerge, which is not valid for some nested loops.
  const FrontEndCall call{common + Words{"-O1", "-funroll-loops", "-D__OPENCL_VERSION__=300",
                                         "-emit-llvm-bc", "-o", k_bitcode_file},
                          std::move(words), spirv_language(target)};
  CLBIN_TRY_ASSIGN(const bool is_compiled, run_front_end(session, call, reply));
  if (!is_compiled) {
    return {};
  }
  CLBIN_TRY_ASSIGN(const bool is_made, make_module(session, target, common, call, reply));
  if (!is_made) {
    return {};
  }
  CLBIN_TRY_ASSIGN(reply.binary, session.read_output("llvm-spirv", k_module_file));
  CLBIN_TRY_ASSIGN(auto module, format::read_spirv_module(reply.binary));
  CLBIN_TRY(require_resolved(module.imports));
  reply.kernels = std::move(module.kernels);
  return {};
}

} // namespace

const FamilyCompiler k_spirv_compiler = {spirv_tools, compile_spirv, pointers_preparation,
                                         ask_for_typed_pointers};

} // namespace oclcc::offline
