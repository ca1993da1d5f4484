// Reads and edits LLVM's textual IR, as clang writes it with -cl-kernel-arg-info.
#pragma once

#include "model/kernel.hpp"
#include "terminal/reporter.hpp"

namespace oclcc::offline {

// The metadata nodes of a module, `!12 = !{…}`. Views into the text.
class IrNodes {
public:
  explicit IrNodes(std::string_view ir);

  // Returns the strings, or the numbers, of a node, in order; empty if there is no such node.
  [[nodiscard]] std::vector<std::string> strings(unsigned node) const;
  [[nodiscard]] std::vector<std::uint64_t> numbers(unsigned node) const;
  // Returns what is between the braces of a node; empty if there is no such node.
  [[nodiscard]] std::string_view content(unsigned node) const;
  [[nodiscard]] unsigned first_unused() const noexcept;

private:
  std::map<unsigned, std::string_view> m_nodes;
};

// A kernel's line: "define … spir_kernel void @NAME(…) … !kernel_arg_type !7 …".
struct IrKernel {
  static constexpr unsigned k_no_node = ~0U; // which IrNodes has never

  std::string symbol;                    // as the IR spells it, perhaps in quotes
  std::string name;                      // without them
  std::map<std::string, unsigned> nodes; // "kernel_arg_type": 7

  // Returns the number of a node by its name, or k_no_node.
  [[nodiscard]] unsigned node(const std::string& which) const;
};
[[nodiscard]] std::vector<IrKernel> kernels_in(std::string_view ir);

// Returns what clGetKernelArgInfo and clGetKernelWorkGroupInfo report for the source. damaged: the
// kernel's nodes differ in their numbers of arguments.
[[nodiscard]] Result<format::KernelReflection> reflect(const IrKernel& kernel,
                                                       const IrNodes& nodes);

// Returns LLVM's textual IR in which kernels that call kernels call copies of them, which are
// functions. OpenCL C, section "Function qualifiers", permits such calls; neither PTX nor AMD's
// code can call a kernel. The copies may be inlined, although clang forbids it for kernels of
// NVIDIA's devices. A kernel that is declared only has no copy. Returns `ir` if no kernel is
// called.
[[nodiscard]] std::string with_callable_kernels(std::string_view ir);

// Returns the IR as llvm-spirv can translate it:
// - the condition of each `select` of vectors is a vector, which SPIR-V below 1.4 requires;
// - there are no calls of work-item functions for a constant dimension above 2, for which
//   llvm-spirv reads a component that the vector lacks;
// - loops have no hints;
// - constants are not made of vectors of one element;
// - the flags of fences are constants: if they are not, those of every memory;
// - each constant sampler has a filter, otherwise that of the nearest element;
// - functions with samplers have k_always_inline, and must be inlined.
inline constexpr std::string_view k_always_inline = " alwaysinline";
[[nodiscard]] std::string repaired_for_spirv(std::string_view ir);

// Returns "kernel.cl:3:8", the place in the source of the first instruction that contains
// `spelling`, according to the line tables of the IR; empty if there is none.
[[nodiscard]] std::string source_place(std::string_view ir, std::string_view spelling);

} // namespace oclcc::offline
