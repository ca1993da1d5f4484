#include "base/text.hpp"
#include "format/binary/binary_kernels.hpp"
#include "targets/clang_front_end.hpp"
#include "targets/embedded_files.hpp"
#include "targets/llvm_ir.hpp"
#include "targets/nvptx_passes.hpp"

#include <fmt/format.h>

namespace oclcc::offline {

namespace {

// NVIDIA's driver accepts `asm`, which is no keyword in C99.
constexpr const char* k_asm_keyword = "-fgnu-keywords";
constexpr std::string_view k_max_registers = "-cl-nv-maxrregcount=";

// Seen in the PTX of clang 15 (doc/nvptx.md).
const OptionRule k_nvptx_rules[] = {
    {k_flush_denormals, OptionEffect::pass, {"-fdenormal-fp-math-f32=preserve-sign,preserve-sign"}},
    {k_correct_rounding, OptionEffect::ignore}, // of the later steps
    {"-cl-uniform-work-group-size", OptionEffect::ignore},
    {k_max_registers, OptionEffect::ignore}, // an annotation
    {"-cl-nv-verbose", OptionEffect::warn},
    {"-g",
     OptionEffect::pass,
     {"-debug-info-kind=line-directives-only", "-dwarf-version=2", "-fdebug-compilation-dir=."}},
};

// The functions of atomics.cl, which every program has, cover these.
std::string_view atomic_features() {
  return {};
}

// What NVIDIA's devices have, and the language of their driver does not.
struct Extension {
  std::string_view name;
  unsigned capability;             // the lowest: 53 for sm_53
  std::string_view (*functions)(); // in the order in which they are compiled
};
const Extension k_own_extensions[] = {
    {"cl_khr_fp16", 53, nvptx_half},
    {"cl_khr_subgroups", 50, nvptx_sub_groups},
    {"cl_khr_subgroup_ballot", 50, nvptx_sub_groups},
    {"cl_khr_subgroup_clustered_reduce", 50, nvptx_sub_groups},
    {"cl_khr_subgroup_extended_types", 50, nvptx_sub_groups},
    {"cl_khr_subgroup_non_uniform_arithmetic", 50, nvptx_sub_groups},
    {"cl_khr_subgroup_non_uniform_vote", 50, nvptx_sub_groups},
    {"cl_khr_subgroup_rotate", 50, nvptx_sub_groups},
    {"cl_khr_subgroup_shuffle", 50, nvptx_sub_groups},
    {"cl_khr_subgroup_shuffle_relative", 50, nvptx_sub_groups},
    {"__opencl_c_work_group_collective_functions", 50, nvptx_sub_groups},
    {"cl_khr_extended_bit_ops", 50, nvptx_integer_extensions},
    {"cl_khr_integer_dot_product", 50, nvptx_integer_extensions},
    {"cl_khr_kernel_clock", 50, nvptx_integer_extensions},
    {"__opencl_c_generic_address_space", 50, nvptx_generic},
    {"__opencl_c_atomic_order_acq_rel", 50, atomic_features},
    {"__opencl_c_atomic_order_seq_cst", 50, atomic_features},
    {"__opencl_c_atomic_scope_device", 50, atomic_features},
    {"__opencl_c_atomic_scope_all_devices", 50, atomic_features},
};

// Returns the requested ones, in this order. The others are those that the driver has, too, or
// unknown. invalid_argument: the target lacks one.
Result<std::vector<Extension>> extensions_of(const FamilyRequest& request) {
  std::vector<Extension> extensions;
  for (const Extension& extension : k_own_extensions) {
    if (!has(request.extensions, extension.name)) {
      continue;
    }
    if (capability_of(request.target.architecture) < extension.capability) {
      return fail(ErrorCode::invalid_argument, "'{}' requires sm_{} or later", extension.name,
                  extension.capability);
    }
    extensions.push_back(extension);
  }
  return extensions;
}

// Returns the lowest version of PTX, "7.8", that has the target (PTX ISA 9.0, release notes; ptxas
// 13.0), so that the oldest driver accepts it.
std::string ptx_version(std::string_view architecture) {
  constexpr std::pair<std::string_view, std::string_view> k_versions[] = {
      {"sm_72", "6.1"},  {"sm_75", "6.3"},  {"sm_80", "7.0"},  {"sm_86", "7.1"},
      {"sm_87", "7.4"},  {"sm_89", "7.8"},  {"sm_90", "7.8"},  {"sm_100", "8.6"},
      {"sm_103", "8.8"}, {"sm_110", "9.0"}, {"sm_120", "8.7"}, {"sm_121", "8.8"}};
  for (const auto& [name, version] : k_versions) {
    if (name == architecture) {
      return std::string(version);
    }
  }
  return "6.0";
}

// Returns the lowest version of PTX that has the target, the instructions that older targets have,
// too, and the parameters of each kernel (PTX ISA 9.0, ".param"). invalid_argument: no version has
// them.
Result<std::string> ptx_version_for(const OfflineTarget& target, std::string_view ptx) {
  constexpr std::uint64_t k_small = 4352;
  constexpr std::uint64_t k_large = 32764; // since PTX 8.1, from sm_70 on
  const bool is_old =
      target.architecture.starts_with("sm_5") || target.architecture.starts_with("sm_6");
  const std::uint64_t limit = is_old ? k_small : k_large;
  CLBIN_TRY_ASSIGN(const auto kernels, format::read_ptx_kernels(ptx));
  std::string version = ptx_version(target.architecture);
  for (const format::PtxKernel& kernel : kernels) {
    const std::uint64_t bytes = kernel.parameter_bytes;
    if (bytes > limit) {
      return fail(ErrorCode::invalid_argument,
                  "the arguments of the kernel '{}' have {} bytes, and {} takes {} at most",
                  kernel.reflection.name, bytes, target.architecture, limit);
    }
    version = bytes > k_small ? std::max(version, std::string("8.1")) : version; // one digit each
  }
  for (const auto& [instruction, since] : {std::pair("activemask.", "6.2"), {"mma.sync.", "6.5"}}) {
    version = ptx.find(instruction) == ptx.npos ? version : std::max(version, std::string(since));
  }
  return version;
}

// The highest that clang 15 knows serves those above it: OpenCL C has nothing that needs more, and
// clang 19 makes slower code (bench/results/offline_targets.md).
std::string clang_architecture(const OfflineTarget& target) {
  constexpr std::string_view k_highest = "sm_86";
  const std::string& name = target.architecture; // a longer one has a higher number
  const bool is_known =
      name.size() < k_highest.size() || (name.size() == k_highest.size() && name <= k_highest);
  return is_known ? name : std::string(k_highest);
}

Words target_words(const OfflineTarget& target) {
  const std::string architecture = clang_architecture(target);
  std::string version = ptx_version(architecture);
  std::erase(version, '.');
  return words_of(fmt::format("-triple nvptx64-nvidia-nvcl -target-cpu {} -target-feature +ptx{} "
                              "-mframe-pointer=none",
                              architecture, version));
}

// Of several, the last applies.
Result<std::optional<unsigned>> max_registers(const Words& options) {
  std::optional<unsigned> registers;
  for (const std::string& option : options) {
    if (!option.starts_with(k_max_registers)) {
      continue;
    }
    registers =
        base::parse_number<unsigned>(std::string_view(option).substr(k_max_registers.size()));
    if (registers.value_or(0) == 0) {
      return fail(ErrorCode::invalid_argument, "'{}' needs a number of registers", option);
    }
  }
  return registers;
}

Result<std::string> read(const ToolSession& session, const char* name) {
  CLBIN_TRY_ASSIGN(const auto bytes, session.read_output("clang", name));
  return std::string(base::as_text(bytes));
}

// The built-in functions of oclcc: one translation unit in OpenCL C.
std::string overlay_text(const std::vector<Extension>& extensions) {
  std::string overlay;
  for (const std::string_view part :
       {nvptx_prologue(), nvptx_work_items(), nvptx_conversions(), nvptx_pairs(), nvptx_common(),
        nvptx_integer(), nvptx_atomics(), nvptx_math_float(), nvptx_math_double()}) {
    overlay += part;
  }
  const Extension* previous = nullptr;
  for (const Extension& extension : extensions) {
    if (previous == nullptr || previous->functions != extension.functions) {
      overlay += extension.functions();
    }
    previous = &extension;
  }
  return overlay;
}

// The library has the target of the program: clang inlines no function of another target.
Words images_words(const OfflineTarget& target) {
  return words_of("-cc1") + target_words(target) +
         words_of("-disable-llvm-passes -emit-llvm-bc -o images.bc -x ir images.ll");
}
Words overlay_words(const OfflineTarget& target) {
  return words_of("-cc1") + target_words(target) +
         Words{"-DOCLCC_SM=" + clang_architecture(target).substr(3)} +
         words_of("-cl-ext=+cl_khr_fp16,+cl_khr_3d_image_writes -cl-std=CL1.2 -O2 "
                  "-ffp-contract=off -disable-llvm-passes -mlink-bitcode-file images.bc "
                  "-emit-llvm-bc -w -o overlay.bc -x cl overlay.cl");
}

constexpr std::string_view k_standard = "-cl-std=";
// The driver's own, although CL_DEVICE_OPENCL_C_VERSION is 1.2 (doc/nvptx.md).
constexpr std::string_view k_default_standard = "-cl-std=CL3.0";

// Of several, the last applies.
std::string_view standard_of(const Words& options) {
  const auto last = std::find_if(options.rbegin(), options.rend(), [](const std::string& option) {
    return option.starts_with(k_standard);
  });
  return last == options.rend() ? k_default_standard : std::string_view(*last);
}

// The requested extensions, and those that the driver has, and clang does not declare for this
// triple. clang 19 declares functions of depth images with their extension only.
std::string extension_word(std::string_view standard, const std::vector<Extension>& requested) {
  std::string extensions = "-cl-ext=+cl_khr_int64_base_atomics,+cl_khr_int64_extended_atomics,"
                           "+cl_khr_3d_image_writes,+cl_khr_depth_images";
  if (standard.starts_with("-cl-std=CL3.")) {
    // clang 22 has generic pointers unless they are turned off.
    extensions +=
        ",+__opencl_c_3d_image_writes,+__opencl_c_images,-__opencl_c_generic_address_space";
  }
  for (const Extension& extension : requested) {
    extensions += fmt::format(",+{}", extension.name);
  }
  return extensions;
}

// clang defines the macros of some of them only: that of generic pointers where the language has
// them, and that of work-group functions in OpenCL C 2.0 unasked.
std::string language_with(const std::vector<Extension>& extensions) {
  std::string text = "#undef __opencl_c_work_group_collective_functions\n";
  for (const Extension& extension : extensions) {
    const bool has_macro =
        extension.functions == nvptx_generic || extension.functions == atomic_features;
    text += has_macro ? "" : fmt::format("#define {} 1\n", extension.name);
  }
  return text.append(nvptx_language());
}

// The macros by which clang's opencl-c-base.h, which precedes the language, declares orders and
// scopes. OpenCL C 2.0 has all.
Words atomic_words(std::string_view standard, const std::vector<Extension>& extensions) {
  Words words;
  for (const Extension& extension : extensions) {
    if (extension.functions == atomic_features && standard.starts_with("-cl-std=CL3.")) {
      words.push_back(fmt::format("-D{}=1", extension.name));
    }
  }
  return words;
}

// Refuses PTX that the driver would reject, or that has variables without a value.
Result<void> require_loadable(std::string_view ptx) {
  CLBIN_TRY(require_resolved(unresolved_functions(ptx)));
  if (const auto variables = unresolved_variables(ptx); !variables.empty()) {
    return fail(ErrorCode::invalid_argument, "nothing defines the variable '{}'",
                variables.front());
  }
  if (const auto kernels = called_kernels(ptx); !kernels.empty()) {
    return fail(ErrorCode::invalid_argument,
                "the code calls the kernel '{}', and NVIDIA's devices can call functions only",
                kernels.front());
  }
  if (const auto functions = functions_with_images(ptx); !functions.empty()) {
    return fail(ErrorCode::invalid_argument,
                "the function '{}' uses images, and clang does not inline it into its kernels",
                source_name(functions.front()));
  }
  return {};
}

// Refuses variables that ptxas rejects for every architecture, also for those with more memory.
Result<void> require_local_memory(const format::KernelReflection& kernel) {
  constexpr std::uint64_t k_max_bytes = 49152;
  if (const auto bytes = kernel.local_bytes.value_or(0); bytes > k_max_bytes) {
    return fail(
        ErrorCode::invalid_argument,
        "the local variables of the kernel '{}' have {} bytes, and NVIDIA's compiler takes {} "
        "at most",
        kernel.name, bytes, k_max_bytes);
  }
  return {};
}

// Names and types of arguments are in the IR, sizes in the PTX.
Result<std::vector<format::KernelReflection>> reflect_all(std::string_view ir,
                                                          std::string_view ptx) {
  const IrNodes nodes(ir);
  CLBIN_TRY_ASSIGN(const auto compiled, format::read_ptx_kernels(ptx));
  std::vector<format::KernelReflection> kernels;
  for (const IrKernel& kernel : kernels_in(ir)) {
    const auto found =
        std::ranges::find(compiled, kernel.name, [](const format::PtxKernel& candidate) {
          return candidate.reflection.name;
        });
    if (found == compiled.end()) {
      return fail(ErrorCode::internal, "clang wrote no code for the kernel '{}'", kernel.name);
    }
    CLBIN_TRY_ASSIGN(auto reflection, reflect(kernel, nodes));
    reflection.local_bytes = found->reflection.local_bytes;
    reflection.attributes = found->reflection.attributes;
    CLBIN_TRY(require_local_memory(reflection));
    kernels.push_back(std::move(reflection));
  }
  std::ranges::sort(kernels, {}, &format::KernelReflection::name);
  return kernels;
}

std::vector<ToolRow> nvptx_tools(const OfflineTarget& /*target*/) {
  auto rows =
      rows_with_clang([](const ClangRelease& /*release*/) { return std::vector<ToolRow::Tool>(); });
  rows.push_back(row_with_clang({"22", ""}, {}));
  return rows;
}

Result<std::string> nvptx_preparation(const FamilyRequest& request) {
  CLBIN_TRY_ASSIGN(const auto extensions, extensions_of(request));
  const std::string texts = overlay_text(extensions).append(nvptx_images());
  return fmt::format("functions {}: {} {}", base::to_hex(base::digest_of(base::as_bytes(texts))),
                     fmt::join(images_words(request.target), " "),
                     fmt::join(overlay_words(request.target), " "));
}

Result<base::Bytes> prepare_nvptx(const ToolSession& session, const FamilyRequest& request) {
  CLBIN_TRY_ASSIGN(const auto extensions, extensions_of(request));
  CLBIN_TRY(session.write_input("images.ll", nvptx_images()));
  CLBIN_TRY(session.run_step("clang", images_words(request.target)));
  CLBIN_TRY(session.write_input("overlay.cl", overlay_text(extensions)));
  CLBIN_TRY(session.run_step("clang", overlay_words(request.target)));
  return session.read_output("clang", "overlay.bc");
}

// LLVM's vectorizers make comparisons of two numbers of half that the back end of clang 19 cannot
// select ("Cannot select: v2i16 = setcc").
Result<void> run_back_end(const ToolSession& session, const Words& words) {
  const Words ir = words_of("-w -S -o kernel.ptx -x ir annotated.ll");
  CLBIN_TRY_ASSIGN(const ToolRun run,
                   session.run("clang", words + words_of("-vectorize-loops -vectorize-slp") + ir));
  if (run.exit_status == 0) {
    return {};
  }
  if (run.output.find("Cannot select") == std::string::npos) {
    return fail(ErrorCode::internal, "{}", failure_text("clang", run));
  }
  return session.run_step("clang", words + ir);
}

// The back end's part: IR to PTX.
Result<std::string> assemble(const ToolSession& session, const FamilyRequest& request,
                             std::optional<unsigned> registers, std::string_view ir) {
  const OfflineTarget& target = request.target;
  const Words& options = request.options;
  const bool is_exact = has(options, k_correct_rounding);
  const NvptxSettings settings{registers,
                               is_exact ? SquareRoot::correctly_rounded : SquareRoot::approximate};
  CLBIN_TRY_ASSIGN(const std::string annotated,
                   annotate_nvptx(with_callable_kernels(ir), settings));
  CLBIN_TRY(session.write_input("annotated.ll", annotated));
  // As the driver's: div.full has an error of 2 ULP (2.5 are permitted), div.approx any.
  const bool is_relaxed = has(options, k_relaxed_math) || has(options, k_unsafe_math);
  const Words division =
      is_exact ? Words{}
               : Words{"-mllvm", is_relaxed ? "-nvptx-prec-divf32=0" : "-nvptx-prec-divf32=1"};
  // Four steps of a loop at a time, as NVIDIA's compiler writes it. ptxas unrolls the result again.
  CLBIN_TRY(
      run_back_end(session, words_of("-cc1") + target_words(target) + division +
                                words_of("-O2 -fno-dwarf-directory-asm -mllvm -unroll-max-count=4 "
                                         "-mllvm -unroll-partial-threshold=75")));
  CLBIN_TRY_ASSIGN(const std::string written, read(session, "kernel.ptx"));
  CLBIN_TRY_ASSIGN(const std::string rotating, with_reduced_rotations(written));
  CLBIN_TRY_ASSIGN(const std::string version, ptx_version_for(target, rotating));
  CLBIN_TRY_ASSIGN(std::string ptx, retargeted(with_counts_down(with_branches_back(rotating)),
                                               version, target.architecture));
  return ptx + attributes_section(ir);
}

Result<void> compile_nvptx(const ToolSession& session, const FamilyRequest& request,
                           BuildReply& reply) {
  CLBIN_TRY_ASSIGN(auto words, unit_words(request, k_nvptx_rules, reply));
  CLBIN_TRY_ASSIGN(const auto registers, max_registers(request.options));
  CLBIN_TRY_ASSIGN(const auto extensions, extensions_of(request));
  // clang 17 and later define __CUDA_ARCH__ for OpenCL C, too. The driver does not.
  const FrontEndCall call{
      target_words(request.target) +
          Words{std::string(k_default_standard), "-O2", "-ffp-contract=on", "-U__CUDA_ARCH__",
                k_asm_keyword, extension_word(standard_of(request.options), extensions),
                "-D__OCLCC_SM__=" + clang_architecture(request.target).substr(3), // for matrix.clh
                "-disable-llvm-passes", "-mlink-builtin-bitcode", request.shared.string(),
                "-emit-llvm", "-o", "kernel.ll"} +
          atomic_words(standard_of(request.options), extensions),
      std::move(words), language_with(extensions)};
  CLBIN_TRY_ASSIGN(const bool is_compiled, run_front_end(session, call, reply));
  if (!is_compiled) {
    return {};
  }
  CLBIN_TRY_ASSIGN(const std::string ir, read(session, "kernel.ll"));
  CLBIN_TRY_ASSIGN(const std::string ptx, assemble(session, request, registers, ir));
  CLBIN_TRY(require_loadable(ptx));
  CLBIN_TRY_ASSIGN(reply.kernels, reflect_all(ir, ptx));
  reply.binary = bytes_of(ptx);
  return {};
}

} // namespace

Words requestable_extensions(const OfflineTarget& target) {
  Words names;
  const bool is_nvidia =
      target.family == OfflineFamily::nvptx || target.family == OfflineFamily::cubin;
  for (const Extension& extension : k_own_extensions) {
    if (is_nvidia && capability_of(target.architecture) >= extension.capability) {
      names.emplace_back(extension.name);
    }
  }
  return names;
}

const FamilyCompiler k_nvptx_compiler = {nvptx_tools, compile_nvptx, nvptx_preparation,
                                         prepare_nvptx};

} // namespace oclcc::offline
