#include "offline/offline_compiler.hpp"

#include "base/digest.hpp"
#include "base/file_io.hpp"
#include "format/binary/binary_kernels.hpp"
#include "offline/clang_front_end.hpp"
#include "offline/embedded_files.hpp"
#include "offline/llvm_ir.hpp"
#include "offline/nvptx_passes.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>

namespace oclcc::offline {

using clbin::base::ErrorCode;
using clbin::base::fail;
using clbin::base::Result;

namespace {

// NVIDIA's driver accepts `asm`, which is no keyword in C99.
constexpr const char* k_asm_keyword = "-fgnu-keywords";
constexpr std::string_view k_max_registers = "-cl-nv-maxrregcount=";

// Seen in the PTX of clang 15 (doc/nvptx.md).
const std::array k_nvptx_rules = {
    OptionRule{"-cl-std=CL1.1"},
    OptionRule{"-cl-std=CL1.2"},
    OptionRule{"-cl-std=CL2.0"},
    OptionRule{"-cl-std=CL3.0"},
    OptionRule{"-cl-single-precision-constant"},
    OptionRule{"-cl-mad-enable"},
    OptionRule{"-cl-no-signed-zeros"},
    OptionRule{"-cl-finite-math-only"},
    OptionRule{k_unsafe_math},
    OptionRule{k_relaxed_math},
    OptionRule{"-cl-denorms-are-zero",
               OptionEffect::pass,
               {"-fdenormal-fp-math-f32=preserve-sign,preserve-sign"}},
    OptionRule{k_correct_rounding, OptionEffect::ignore}, // of the later steps
    OptionRule{"-cl-uniform-work-group-size", OptionEffect::ignore},
    OptionRule{"-cl-kernel-arg-info", OptionEffect::ignore},
    OptionRule{k_max_registers, OptionEffect::ignore}, // an annotation
    OptionRule{"-cl-opt-disable", OptionEffect::warn},
    OptionRule{"-cl-strict-aliasing", OptionEffect::warn},
    OptionRule{"-cl-no-subgroup-ifp", OptionEffect::warn},
    OptionRule{"-cl-nv-verbose", OptionEffect::warn},
};

// Returns the lowest version of PTX, "7.8", that has the target (PTX ISA 9.0, release notes; ptxas
// 13.0), so that the oldest driver accepts it.
std::string ptx_version(std::string_view architecture) {
  constexpr std::pair<std::string_view, std::string_view> k_versions[] = {
      {"sm_72", "6.1"}, {"sm_75", "6.3"}, {"sm_80", "7.0"}, {"sm_86", "7.1"},
      {"sm_87", "7.4"}, {"sm_89", "7.8"}, {"sm_90", "7.8"}};
  for (const auto& [name, version] : k_versions) {
    if (name == architecture) {
      return std::string(version);
    }
  }
  return "6.0";
}

// The highest that clang 15 knows serves those above it: OpenCL C has nothing that needs more, and
// clang 19 makes slower code (bench/results/offline_targets.md).
std::string clang_architecture(const OfflineTarget& target) {
  constexpr std::string_view k_unknown_to_clang[] = {"sm_87", "sm_89", "sm_90"};
  const bool is_known = std::find(std::begin(k_unknown_to_clang), std::end(k_unknown_to_clang),
                                  target.architecture) == std::end(k_unknown_to_clang);
  return is_known ? target.architecture : "sm_86";
}

Words target_words(const OfflineTarget& target) {
  const std::string architecture = clang_architecture(target);
  std::string feature = "+ptx" + ptx_version(architecture);
  std::erase(feature, '.');
  return {"-triple",         "nvptx64-nvidia-nvcl", "-target-cpu",         architecture,
          "-target-feature", std::move(feature),    "-mframe-pointer=none"};
}

// Of several, the last applies.
Result<std::optional<unsigned>> max_registers(const std::vector<std::string>& options) {
  std::optional<unsigned> registers;
  for (const std::string& option : options) {
    if (!option.starts_with(k_max_registers)) {
      continue;
    }
    unsigned number = 0;
    const char* const start = option.data() + k_max_registers.size();
    const char* const end = option.data() + option.size();
    const auto [stop, error] = std::from_chars(start, end, number);
    if (error != std::errc() || stop != end || number == 0) {
      return fail(ErrorCode::invalid_argument, "'{}' needs a number of registers", option);
    }
    registers = number;
  }
  return registers;
}

Result<std::string> read(const ToolSession& session, const char* name) {
  CLBIN_TRY_ASSIGN(const auto bytes, session.read_output("clang", name));
  return std::string(clbin::base::as_text(bytes));
}

// The built-in functions of oclcc: one translation unit in OpenCL C.
std::string overlay_text() {
  std::string overlay;
  for (const std::string_view part : {nvptx_prologue(), nvptx_work_items(), nvptx_integer(),
                                      nvptx_math_float(), nvptx_math_double()}) {
    overlay += part;
  }
  return overlay;
}

// The library has the target of the program: clang inlines no function of another target.
Words images_words(const OfflineTarget& target) {
  return Words{"-cc1"} + target_words(target) +
         Words{"-disable-llvm-passes", "-emit-llvm-bc", "-o", "images.bc", "-x", "ir", "images.ll"};
}
Words overlay_words(const OfflineTarget& target) {
  return Words{"-cc1"} + target_words(target) +
         Words{"-cl-std=CL1.2",
               "-O2",
               "-ffp-contract=off",
               "-disable-llvm-passes",
               "-mlink-bitcode-file",
               "images.bc",
               "-emit-llvm-bc",
               "-w",
               "-o",
               "overlay.bc",
               "-x",
               "cl",
               "overlay.cl"};
}

constexpr std::string_view k_standard = "-cl-std=";
// The driver's own, although CL_DEVICE_OPENCL_C_VERSION is 1.2 (doc/nvptx.md).
constexpr std::string_view k_default_standard = "-cl-std=CL3.0";

// Of several, the last applies.
std::string_view standard_of(const std::vector<std::string>& options) {
  const auto last = std::find_if(options.rbegin(), options.rend(), [](const std::string& option) {
    return option.starts_with(k_standard);
  });
  return last == options.rend() ? k_default_standard : std::string_view(*last);
}

// Those that the driver has, and clang does not declare for this triple.
std::string extensions_of(std::string_view standard) {
  std::string extensions = "-cl-ext=+cl_khr_int64_base_atomics,+cl_khr_int64_extended_atomics,"
                           "+cl_khr_3d_image_writes";
  if (standard == "-cl-std=CL3.0") {
    extensions += ",+__opencl_c_3d_image_writes,+__opencl_c_images";
  }
  return extensions;
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

// Names and types of arguments are in the IR, sizes in the PTX.
Result<std::vector<clbin::format::KernelReflection>> reflect_all(std::string_view ir,
                                                                 std::string_view ptx) {
  const IrNodes nodes(ir);
  CLBIN_TRY_ASSIGN(const auto compiled, clbin::format::read_ptx_kernels(ptx));
  std::vector<clbin::format::KernelReflection> kernels;
  for (const IrKernel& kernel : kernels_in(ir)) {
    const auto found =
        std::find_if(compiled.begin(), compiled.end(), [&](const clbin::format::PtxKernel& other) {
          return other.reflection.name == kernel.name;
        });
    if (found == compiled.end()) {
      return fail(ErrorCode::internal, "clang wrote no code for the kernel '{}'", kernel.name);
    }
    CLBIN_TRY_ASSIGN(auto reflection, reflect(kernel, nodes));
    reflection.local_bytes = found->reflection.local_bytes;
    reflection.attributes = found->reflection.attributes;
    kernels.push_back(std::move(reflection));
  }
  std::sort(kernels.begin(), kernels.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return kernels;
}

class NvptxCompiler final : public FamilyCompiler {
public:
  [[nodiscard]] std::vector<ToolRow> tools_for(const OfflineTarget& /*target*/) const override {
    constexpr const char* k_library = "/usr/lib/clc/nvptx64--nvidiacl.bc";
    std::vector<ToolRow> rows;
    for (const ClangRelease& release : k_clang_releases) {
      rows.push_back({{{"clang", release.name("clang"), release.name("clang")},
                       {"libclc", k_library, release.name("libclc")}},
                      release.debian});
    }
    return rows;
  }

  [[nodiscard]] std::string preparation_of(const OfflineTarget& target) const override {
    static const std::string k_texts = clbin::base::to_hex(clbin::base::digest_of(
        clbin::base::as_bytes(overlay_text() + std::string(nvptx_images()))));
    return fmt::format("functions {}: {} {}", k_texts, fmt::join(images_words(target), " "),
                       fmt::join(overlay_words(target), " "));
  }

  [[nodiscard]] Result<clbin::base::Bytes> prepare(const ToolSession& session,
                                                   const OfflineTarget& target) const override {
    CLBIN_TRY(session.write_input("images.ll", nvptx_images()));
    CLBIN_TRY(run_step(session, "clang", images_words(target)));
    CLBIN_TRY(session.write_input("overlay.cl", overlay_text()));
    CLBIN_TRY(run_step(session, "clang", overlay_words(target)));
    return session.read_output("clang", "overlay.bc");
  }

  [[nodiscard]] Result<void> compile(const ToolSession& session,
                                     const std::filesystem::path& shared,
                                     const OfflineTarget& target,
                                     const std::vector<std::string>& options,
                                     BuildReply& reply) const override {
    CLBIN_TRY_ASSIGN(auto words, unit_words(options, k_nvptx_rules, target, reply));
    CLBIN_TRY_ASSIGN(const auto registers, max_registers(options));
    const std::string_view standard = standard_of(options);
    const FrontEndCall call{
        target_words(target) +
            Words{std::string(k_default_standard), "-O2", "-ffp-contract=on", k_asm_keyword,
                  extensions_of(standard), "-Wno-linker-warnings", "-disable-llvm-passes",
                  "-mlink-builtin-bitcode", shared.string(), "-mlink-builtin-bitcode",
                  session.path("libclc").string(), "-emit-llvm", "-o", "kernel.ll"},
        std::move(words), std::string(nvptx_language())};
    CLBIN_TRY_ASSIGN(const bool is_compiled, run_front_end(session, call, reply));
    if (!is_compiled) {
      return {};
    }
    CLBIN_TRY_ASSIGN(const std::string ir, read(session, "kernel.ll"));
    CLBIN_TRY_ASSIGN(const std::string ptx, assemble(session, target, options, registers, ir));
    CLBIN_TRY(require_loadable(ptx));
    CLBIN_TRY_ASSIGN(reply.kernels, reflect_all(ir, ptx));
    const auto bytes = clbin::base::as_bytes(ptx);
    reply.binary.assign(bytes.begin(), bytes.end());
    return {};
  }

private:
  // The back end's part: IR to PTX.
  static Result<std::string> assemble(const ToolSession& session, const OfflineTarget& target,
                                      const std::vector<std::string>& options,
                                      std::optional<unsigned> registers, std::string_view ir) {
    const bool is_exact = has(options, k_correct_rounding);
    const NvptxSettings settings{registers, is_exact ? SquareRoot::correctly_rounded
                                                     : SquareRoot::approximate};
    CLBIN_TRY_ASSIGN(const std::string annotated,
                     annotate_nvptx(with_callable_kernels(ir), settings));
    CLBIN_TRY(session.write_input("annotated.ll", annotated));
    // As the driver's: div.full has an error of 2 ULP (2.5 are permitted), div.approx any.
    const bool is_relaxed = has(options, k_relaxed_math) || has(options, k_unsafe_math);
    const Words division =
        is_exact ? Words{}
                 : Words{"-mllvm", is_relaxed ? "-nvptx-prec-divf32=0" : "-nvptx-prec-divf32=1"};
    CLBIN_TRY(run_step(session, "clang",
                       Words{"-cc1"} + target_words(target) + division +
                           Words{"-O2", "-vectorize-loops", "-vectorize-slp", "-w", "-S", "-o",
                                 "kernel.ptx", "-x", "ir", "annotated.ll"}));
    CLBIN_TRY_ASSIGN(const std::string written, read(session, "kernel.ptx"));
    CLBIN_TRY_ASSIGN(const std::string rotating, with_reduced_rotations(written));
    CLBIN_TRY_ASSIGN(std::string ptx,
                     retargeted(rotating, ptx_version(target.architecture), target.architecture));
    ptx += attributes_section(ir);
    return ptx;
  }
};

} // namespace

const FamilyCompiler& nvptx_compiler() {
  static const NvptxCompiler k_compiler;
  return k_compiler;
}

} // namespace oclcc::offline
