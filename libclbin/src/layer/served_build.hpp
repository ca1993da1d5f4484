// One build of a program that the application has created.
#pragma once

#include "layer/layer.hpp"

namespace clbin::layer {

// Used by one thread; borrows the layer and the program.
struct ServedBuild {
  Layer& layer;
  const TrackedProgram& tracked;
  BuildArguments arguments;
  std::string options{}; // after the rules of the configuration
  loader::LoadReport report{};
  std::unique_ptr<loader::RunTimeProgram> program{}; // extends the report; set by prepare()

  // opencl_call, invalid_argument: nothing can be said about the program.
  [[nodiscard]] static base::Result<std::unique_ptr<ServedBuild>>
  prepare(Layer& layer, const TrackedProgram& program, BuildArguments arguments);

  // "program 0123… (kernel 'add') with options '-DX=1' for 'DEVICE'"
  [[nodiscard]] std::string description() const;
  // Of the program and its options. Differs if a header has changed.
  [[nodiscard]] std::string key() const;
  // Why the program was not served.
  [[nodiscard]] std::string why_not() const;
  // "served from a bundle", "built from the IL of a bundle" or "served from the user cache", once
  // the program is served.
  [[nodiscard]] std::string_view outcome() const noexcept;
  // Stores the binaries of a program that the driver has built with these options, before it
  // returns. Null: of one that the driver builds from the same source for that, as long as the
  // context exists.
  void keep(cl_program built, loader::KeepTime time);
  // What mode `record` writes about such a program. std::nullopt: it cannot be identified.
  [[nodiscard]] std::optional<RecordedBuild> recorded_build(cl_program built) const;
};

// " (kernel 'add')", by which a person recognizes a program in the log: the first kernel that the
// source declares, or the first one of the IL. Empty if none is found. " (label 'matmul')" if mode
// `record` was told a label.
[[nodiscard]] std::string kernel_in_parentheses(const TrackedProgram& program);

} // namespace clbin::layer
