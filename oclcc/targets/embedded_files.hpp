// The files of nvptx/, amdgcn/, compile/, modes/ and libclbin/include/clbin/ that are part of the
// executable.
#pragma once

#include <string_view>

namespace oclcc::offline {

// Built-in functions in OpenCL C, one translation unit in the order of these.
[[nodiscard]] std::string_view nvptx_prologue();
[[nodiscard]] std::string_view nvptx_work_items();
[[nodiscard]] std::string_view nvptx_conversions();
[[nodiscard]] std::string_view nvptx_pairs();
[[nodiscard]] std::string_view nvptx_common();
[[nodiscard]] std::string_view nvptx_integer();
[[nodiscard]] std::string_view nvptx_atomics();
[[nodiscard]] std::string_view nvptx_math_float();
[[nodiscard]] std::string_view nvptx_math_double();
// Those of extensions, which follow.
[[nodiscard]] std::string_view nvptx_half();
[[nodiscard]] std::string_view nvptx_sub_groups();
[[nodiscard]] std::string_view nvptx_integer_extensions();
[[nodiscard]] std::string_view nvptx_generic();
// Image functions in LLVM's IR.
[[nodiscard]] std::string_view nvptx_images();
// A header that defines the macros of NVIDIA's driver.
[[nodiscard]] std::string_view nvptx_language();
// A header that declares functions of AMD's extensions.
[[nodiscard]] std::string_view amdgcn_language();
// A header for programs.
[[nodiscard]] std::string_view clbin_matrix();
// What scripts of --plan=slurm have in common: their end.
[[nodiscard]] std::string_view compile_slurm();
// The page of --report --html.
[[nodiscard]] std::string_view modes_report();

} // namespace oclcc::offline
