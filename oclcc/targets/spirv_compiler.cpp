#include "targets/offline_compiler.hpp"

#include "format/binary/binary_kernels.hpp"
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

constexpr const char* k_module_file = "kernel.spv";

Result<void> translate(const ToolSession& session, const OfflineTarget& target,
                       const char* bitcode) {
  CLBIN_TRY(
      session.run_step("llvm-spirv", {"--spirv-max-version=" + target.architecture,
                                      "--preserve-ocl-kernel-arg-type-metadata-through-string",
                                      "-o", k_module_file, bitcode}));
  CLBIN_TRY(session.read_output("llvm-spirv", k_module_file));
  return {};
}

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
  CLBIN_TRY(session.run_step("clang", conversion(common, "-emit-llvm", "kernel.ll", "kernel.bc")));
  CLBIN_TRY_ASSIGN(const auto ir, session.read_output("clang", "kernel.ll"));
  CLBIN_TRY(session.write_input("repaired.ll", repaired_for_spirv(base::as_text(ir))));
  return session.run_step("clang",
                          conversion(common, "-emit-llvm-bc", "repaired.bc", "repaired.ll"));
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

// From kernel.bc to a valid module.
Result<void> make_module(const ToolSession& session, const OfflineTarget& target,
                         const Words& common) {
  const std::vector<std::string> validation = {"--target-env", "spv" + target.architecture,
                                               k_module_file};
  CLBIN_TRY(translate(session, target, "kernel.bc"));
  CLBIN_TRY_ASSIGN(const ToolRun first, session.run("spirv-val", validation));
  if (first.exit_status == 0) {
    return {};
  }
  CLBIN_TRY(repair(session, common));
  CLBIN_TRY(translate(session, target, "repaired.bc"));
  CLBIN_TRY_ASSIGN(const ToolRun second, session.run("spirv-val", validation));
  if (second.exit_status == 0) {
    return {};
  }
  return fail(ErrorCode::internal,
              "llvm-spirv wrote a module that is not valid; spirv-val reports: {}",
              without_line(reason_in(second.output)));
}

std::vector<ToolRow> spirv_tools(const OfflineTarget& /*target*/) {
  return rows_with_clang([](const ClangRelease& release) -> std::vector<ToolRow::Tool> {
    return {{"llvm-spirv", release.name("llvm-spirv"), release.name("llvm-spirv")},
            {"spirv-val", "spirv-val", "spirv-tools"}};
  });
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
                                         "-emit-llvm-bc", "-o", "kernel.bc"},
                          std::move(words), spirv_language(target)};
  CLBIN_TRY_ASSIGN(const bool is_compiled, run_front_end(session, call, reply));
  if (!is_compiled) {
    return {};
  }
  CLBIN_TRY(make_module(session, target, common));
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
