// What --launch describes: a launch of a kernel with its arguments, as text or as JSON
// (oclcc-tuning(7)), and how it fits a variant.
#pragma once

#include "command_line/size_expression.hpp"
#include "model/kernel.hpp"
#include "worker/kernel_launch.hpp"

#include <variant>

namespace oclcc {

using worker::ElementType;
using worker::LaunchArgument;

// Numbers that the type of the argument interprets: "512", "-1.5", "f32(1, 2, 3, 4)", "M*2".
struct DescribedNumber {
  struct Item {
    std::string text;
    std::optional<SizeExpression> expression; // of names and operators; otherwise, a literal
  };
  std::optional<ElementType> type;
  std::vector<Item> items; // at least one; several for a vector of OpenCL C
};
// "random(f32, M*N, 7)"
struct DescribedBuffer {
  worker::Fill fill = worker::Fill::zero;
  ElementType type = ElementType::f32;
  SizeExpression count;
  std::optional<std::uint64_t> seed; // of Fill::random; otherwise, the position of the argument
};
// "local(1024)"
struct DescribedLocal {
  SizeExpression size_bytes;
};

struct DescribedArgument {
  std::string name; // empty: the argument at its position
  std::string text; // as given
  // LaunchArgument: of a recorded launch, as it is.
  std::variant<DescribedNumber, DescribedBuffer, DescribedLocal, LaunchArgument> value;
};

struct LaunchDescription {
  std::string text;    // for messages
  std::string program; // empty: the only one with the kernel
  std::string kernel;
  std::vector<SizeExpression> class_size{}; // empty: the global size
  std::vector<SizeExpression> global_size{};
  std::vector<SizeExpression> local_size{}; // empty: several are tried
  std::vector<DescribedArgument> arguments{};
  std::optional<format::KnownAnswer> recorded{}; // where it comes from, if an application made it
};

// Returns the description of a recorded launch.
[[nodiscard]] LaunchDescription description_of(const std::string& program,
                                               const format::KnownAnswer& recorded);
// Returns "--launch 'TEXT'", or what people call a recorded launch.
[[nodiscard]] std::string told(const LaunchDescription& launch);

// Parses a text with '='; any other text is the name of a JSON file, which can have several
// launches. invalid_argument names the launch and the part that is wrong; file_not_found,
// file_read.
[[nodiscard]] Result<std::vector<LaunchDescription>> read_launches(const std::string& text);

// The launch that a description means in one variant.
struct BoundLaunch {
  std::vector<LaunchArgument> arguments;
  std::uint32_t dimensions = 0;
  format::GroupSize class_size{};
  format::GroupSize global_size{}; // all 0: it depends on the local size, which is not given
  format::GroupSize local_size{};  // all 0: none is given or required
};

// Values of macros, by name.
using MacroValues = std::map<std::string, std::optional<std::uint64_t>>;
// Returns the macros of the build options of a variant whose values are numbers.
[[nodiscard]] MacroValues macro_values(const std::string& options);

// Returns the names and numbers of the arguments that do not fit the kernel's. Does nothing if the
// arguments of the kernel are not known. invalid_argument.
[[nodiscard]] Result<void> check_arguments(const LaunchDescription& launch,
                                           const format::KernelReflection& kernel);

// `local_size` is a size to try: all 0 if the driver chooses. invalid_argument, with the launch: an
// argument does not fit, a size has no value, or the launch is too large.
[[nodiscard]] Result<BoundLaunch> bind_launch(const LaunchDescription& launch,
                                              const format::KernelReflection& kernel,
                                              const MacroValues& macros,
                                              const format::GroupSize& local_size);

// "512x512"
[[nodiscard]] std::string size_text(const format::GroupSize& size, std::uint32_t dimensions);

} // namespace oclcc
