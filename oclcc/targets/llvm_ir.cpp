#include "targets/llvm_ir.hpp"

#include "base/text.hpp"
#include "targets/tools.hpp"

#include <fmt/format.h>

namespace oclcc::offline {

using format::AccessQualifier;
using format::AddressSpace;
using format::KernelArgument;
using format::KernelReflection;

namespace {

// What precedes a kernel's name in a definition, a declaration or a call.
constexpr std::string_view k_kernel_conventions[] = {" spir_kernel void @", " ptx_kernel void @",
                                                     " amdgpu_kernel void @"};

std::optional<unsigned> leading_number(std::string_view text) {
  return base::take_number<unsigned>(text);
}

// LLVM writes bytes that are not printable, quotes and backslashes as two hexadecimal digits.
std::string unescaped(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned char byte = 0;
    const bool is_escape =
        text[i] == '\\' && i + 2 < text.size() &&
        std::from_chars(text.data() + i + 1, text.data() + i + 3, byte, 16).ptr ==
            text.data() + i + 3;
    if (is_escape) {
      result += static_cast<char>(byte);
      i += 2;
    } else {
      result += text[i];
    }
  }
  return result;
}

AddressSpace address_space_of(std::uint64_t number) {
  // Of OpenCL, whatever the target's are.
  constexpr AddressSpace k_spaces[] = {AddressSpace::private_, AddressSpace::global,
                                       AddressSpace::constant, AddressSpace::local};
  return number < std::size(k_spaces) ? k_spaces[number] : AddressSpace::private_;
}

AccessQualifier access_of(std::string_view word) {
  constexpr auto k_names = names_of(AccessQualifier());
  const auto* const found = std::ranges::find(k_names, word);
  return found == k_names.end() ? AccessQualifier::none
                                : static_cast<AccessQualifier>(found - k_names.begin());
}

void add_qualifiers(std::string_view qualifiers, KernelArgument& argument) {
  const auto words = base::words_between_spaces(qualifiers);
  const auto has = [&](std::string_view word) {
    return std::ranges::find(words, word) != words.end();
  };
  argument.is_const = has("const");
  argument.is_restrict = has("restrict");
  argument.is_volatile = has("volatile");
  argument.is_pipe = has("pipe");
}

// Returns the symbol with which `text` begins, with its quotes if it has them.
std::string_view ir_symbol(std::string_view text) {
  return text.substr(0, text.starts_with('"') ? text.find('"', 1) + 1 : text.find('('));
}

// Reads "NAME(…) … !kernel_arg_type !7 … {".
IrKernel read_kernel(std::string_view rest) {
  IrKernel kernel;
  kernel.symbol = ir_symbol(rest);
  kernel.name = kernel.symbol;
  std::erase(kernel.name, '"');
  for (std::size_t mark = rest.find(" !"); mark != std::string_view::npos; mark = rest.find(" !")) {
    rest.remove_prefix(mark + 2);
    const std::string name(rest.substr(0, rest.find(' ')));
    if (const std::size_t number = rest.find(" !"); number == name.size()) {
      kernel.nodes.emplace(name,
                           leading_number(rest.substr(number + 2)).value_or(IrKernel::k_no_node));
    }
  }
  return kernel;
}

using Symbols = std::set<std::string, std::less<>>;

// A kernel's name in a definition or a call: "define dso_local spir_kernel void @NAME(…".
struct KernelMention {
  std::size_t convention = 0; // of the space before it
  std::size_t symbol = 0;     // of what follows "@"
  std::string_view name;      // as the IR spells it, perhaps in quotes
};

std::optional<KernelMention> kernel_in(std::string_view line) {
  for (const std::string_view convention : k_kernel_conventions) {
    if (const std::size_t at = line.find(convention); at != std::string_view::npos) {
      const std::size_t symbol = at + convention.size();
      return KernelMention{at, symbol, ir_symbol(line.substr(symbol))};
    }
  }
  return std::nullopt;
}

bool is_call(std::string_view line, const KernelMention& kernel) {
  return line.starts_with("  ") && line.substr(0, kernel.convention).ends_with("call");
}

Symbols callable_kernels(std::string_view ir) {
  Symbols defined;
  for (const IrKernel& kernel : kernels_in(ir)) {
    defined.insert(kernel.symbol);
  }
  Symbols called;
  for (const std::string_view line : base::split_lines(ir)) {
    const auto kernel = kernel_in(line);
    if (kernel && is_call(line, *kernel) && defined.contains(kernel->name)) {
      called.emplace(kernel->name);
    }
  }
  return called;
}

std::string name_of_copy(std::string_view symbol) {
  const bool is_quoted = symbol.starts_with('"');
  return fmt::format("{}oclcc_called_{}", is_quoted ? "\"" : "", symbol.substr(is_quoted ? 1 : 0));
}

// Returns the rest of the line from the convention, of the kernel's copy: " spir_kernel void @g(…"
// → " spir_func void @oclcc_called_g(…".
std::string of_copy(std::string_view line, const KernelMention& kernel) {
  // The convention of functions that clang writes for this target.
  const bool is_spir = line.substr(kernel.convention).starts_with(" spir_");
  return fmt::format(" {}void @{}{}", is_spir ? "spir_func " : "", name_of_copy(kernel.name),
                     line.substr(kernel.symbol + kernel.name.size()));
}

// The number of the attributes of a definition: "7" of "… #7 !kernel_arg_type …".
std::string attributes_of(std::string_view definition) {
  const std::size_t start = definition.find(" #", definition.rfind(')'));
  const std::size_t begin = start == std::string_view::npos ? definition.size() : start + 2;
  const std::string_view rest = definition.substr(begin);
  return std::string(rest.substr(0, rest.find_first_not_of("0123456789")));
}

class CallableKernels {
public:
  explicit CallableKernels(Symbols called) : m_called(std::move(called)) {}

  void add(std::string_view line) {
    const auto kernel = kernel_in(line);
    const bool is_callable = kernel && m_called.contains(kernel->name);
    if (is_callable && line.starts_with("define ")) {
      m_attributes.insert(attributes_of(line));
      m_copy = "define internal" + of_copy(line, *kernel) + '\n';
      append(line);
    } else if (is_callable && is_call(line, *kernel)) {
      const std::string call =
          std::string(line.substr(0, kernel->convention)) + of_copy(line, *kernel);
      append(call);
      copy(call);
    } else if (line.starts_with("attributes #")) {
      append(inlinable(line));
    } else {
      append(line);
      copy(line);
    }
    if (line == "}" && !m_copy.empty()) {
      m_text += '\n' + std::exchange(m_copy, {});
    }
  }
  [[nodiscard]] std::string take() { return std::move(m_text); }

private:
  void append(std::string_view line) { m_text.append(line) += '\n'; }
  void copy(std::string_view line) {
    if (!m_copy.empty()) {
      m_copy.append(line) += '\n';
    }
  }
  // "attributes #7 = { convergent noinline … }"
  [[nodiscard]] std::string inlinable(std::string_view line) const {
    constexpr std::string_view k_noinline = " noinline";
    std::string text(line);
    const std::string_view number = line.substr(std::string_view("attributes #").size());
    const std::size_t at = text.find(k_noinline);
    if (at != std::string::npos && m_attributes.contains(number.substr(0, number.find(' ')))) {
      text.erase(at, k_noinline.size());
    }
    return text;
  }

  Symbols m_called;
  Symbols m_attributes; // of the called kernels
  std::string m_text;
  std::string m_copy; // of the kernel that is being read
};

// Returns the text from `start` to the first of `ends` after it.
std::string_view word_at(std::string_view line, std::size_t start, std::string_view ends) {
  return line.substr(start, line.find_first_of(ends, start) - start);
}

// "%c = select i1 %b, <4 x float> %x, <4 x float> %y", with flags behind "select" or not.
std::string with_vector_condition(std::string_view line, std::size_t number) {
  constexpr std::string_view k_select = " = select ";
  constexpr std::string_view k_scalar = "i1 ";
  if (!line.starts_with("  %")) {
    return std::string(line); // no instruction; a constant may contain any text
  }
  const std::size_t select = line.find(k_select);
  const std::size_t condition = select == std::string_view::npos
                                    ? std::string_view::npos
                                    : line.find(k_scalar, select + k_select.size() - 1);
  if (condition == std::string_view::npos || line[condition - 1] != ' ') {
    return std::string(line);
  }
  const std::string_view value = word_at(line, condition + k_scalar.size(), ",");
  const std::size_t type = condition + k_scalar.size() + value.size() + 2;
  if (type >= line.size() || line[type] != '<') {
    return std::string(line);
  }
  const std::string_view lanes = word_at(line, type + 1, " ");
  return fmt::format("  %oclcc.lane{0} = insertelement <{1} x i1> undef, i1 {2}, i32 0\n"
                     "  %oclcc.lanes{0} = shufflevector <{1} x i1> %oclcc.lane{0}, <{1} x i1> "
                     "undef, <{1} x i32> zeroinitializer\n"
                     "{3}<{1} x i1> %oclcc.lanes{0}{4}",
                     number, lanes, value, line.substr(0, condition),
                     line.substr(condition + k_scalar.size() + value.size()));
}

// "%1 = call spir_func i64 @_Z15get_global_sizej(i32 3) #2" → "%1 = add i64 1, 0": OpenCL C,
// section "Work-Item Functions".
std::string with_known_dimension(std::string line) {
  constexpr std::pair<std::string_view, int> k_functions[] = {
      {" @_Z13get_global_idj(", 0},   {" @_Z12get_local_idj(", 0},
      {" @_Z12get_group_idj(", 0},    {" @_Z17get_global_offsetj(", 0},
      {" @_Z15get_global_sizej(", 1}, {" @_Z14get_local_sizej(", 1},
      {" @_Z14get_num_groupsj(", 1},  {" @_Z23get_enqueued_local_sizej(", 1}};
  for (const auto& [name, value] : k_functions) {
    const std::size_t at = line.find(name);
    const std::size_t equals = line.find(" = ");
    const std::size_t end = line.find(')', at);
    if (!line.starts_with("  %") || at == std::string::npos || equals == std::string::npos ||
        end == std::string::npos) {
      continue;
    }
    unsigned dimension = 0; // stays 0 for a variable
    std::from_chars(line.data() + line.rfind(' ', end) + 1, line.data() + end, dimension);
    if (dimension > 2) {
      const std::size_t type = line.rfind(' ', at - 1) + 1;
      return fmt::format("{} = add {} {}, 0", line.substr(0, equals), line.substr(type, at - type),
                         value);
    }
  }
  return line;
}

// Returns the text of "!7 = …" behind the equals sign.
std::string_view metadata(std::string_view ir, std::string_view number) {
  const std::string start = fmt::format("\n!{} = ", number);
  const std::size_t at = ir.find(start);
  return at == std::string_view::npos ? std::string_view() : word_at(ir, at + start.size(), "\n");
}

// Returns what follows `mark` up to a comma, a parenthesis or a blank.
std::string_view field(std::string_view text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  return at == std::string_view::npos ? std::string_view() : word_at(text, at + mark.size(), ",) ");
}

// "bitcast (<1 x i64> <i64 1> to <2 x i32>)" → "<i32 1, i32 0>". llvm-spirv 15 crashes over vectors
// of one element, of which clang makes such constants.
std::string without_short_vectors(std::string line) {
  constexpr std::string_view k_start = "bitcast (<1 x i64> <i64 ";
  constexpr std::string_view k_to = "> to <";
  for (std::size_t at = line.find(k_start); at != std::string::npos;
       at = line.find(k_start, at + 1)) {
    std::int64_t value = 0;
    const char* const number = line.data() + at + k_start.size();
    const auto [stop, error] = std::from_chars(number, line.data() + line.size(), value);
    const std::size_t to = static_cast<std::size_t>(stop - line.data());
    if (error != std::errc() || !std::string_view(line).substr(to).starts_with(k_to)) {
      continue;
    }
    const std::string_view type = word_at(line, to + k_to.size(), ">"); // "2 x i32"
    const unsigned count = leading_number(type).value_or(0);
    const std::string element(field(type, " x "));
    const unsigned bits = leading_number(std::string_view(element).substr(1)).value_or(0);
    if (!element.starts_with('i') || count * bits != 64 || bits == 64) {
      continue;
    }
    std::vector<std::string> values;
    for (unsigned i = 0; i < count; ++i) {
      const auto part = static_cast<std::uint64_t>(value) >> (i * bits) & ((1ULL << bits) - 1);
      values.push_back(fmt::format("{} {}", element, part));
    }
    line.replace(at, to + k_to.size() + type.size() + 2 - at,
                 fmt::format("<{}>", fmt::join(values, ", ")));
  }
  return line;
}

// "call void @_Z7barrierj(i32 %f)" with the flags of every memory. llvm-spirv 15 crashes over flags
// that are not constant, and a fence of more memory is as good.
std::string with_constant_fence(std::string line) {
  constexpr std::string_view k_functions[] = {" @_Z7barrierj(", " @_Z9mem_fencej(",
                                              " @_Z13read_mem_fencej(", " @_Z14write_mem_fencej("};
  constexpr std::string_view k_all_flags = "7"; // CLK_LOCAL_, CLK_GLOBAL_ and CLK_IMAGE_MEM_FENCE
  for (const std::string_view function : k_functions) {
    const std::size_t at = line.find(function);
    const std::size_t value = at == std::string::npos ? at : line.find('%', at);
    if (value != std::string::npos) {
      line.replace(value, line.find(')', value) - value, k_all_flags);
    }
  }
  return line;
}

// "@__translate_sampler_initializer(i32 4)" with a filter, which llvm-spirv 15 otherwise writes as
// -1.
std::string with_filter(std::string line) {
  constexpr std::string_view k_call = "@__translate_sampler_initializer(i32 ";
  constexpr unsigned k_filters = 0x30; // CLK_FILTER_NEAREST | CLK_FILTER_LINEAR
  constexpr unsigned k_nearest = 0x10;
  const std::size_t at = line.find(k_call);
  if (at != std::string::npos) {
    const std::size_t value = at + k_call.size();
    const auto flags = leading_number(std::string_view(line).substr(value));
    if (flags && (*flags & k_filters) == 0) {
      line.replace(value, line.find(')', value) - value, fmt::format("{}", *flags | k_nearest));
    }
  }
  return line;
}

// "define dso_local spir_func void @f(%opencl.sampler_t addrspace(2)* %s) #0 {" as a function that
// is inlined. llvm-spirv 15 crashes if such a function gets the sampler of a kernel.
std::string with_inlined_sampler(std::string line) {
  constexpr std::string_view k_start = "define dso_local spir_func ";
  const std::size_t attributes = line.rfind(") #");
  if (line.starts_with(k_start) && attributes != std::string::npos &&
      line.find("%opencl.sampler_t ") != std::string::npos) {
    line.insert(attributes + 1, k_always_inline);
    line.replace(0, k_start.size(), "define internal spir_func ");
  }
  return line;
}

// "br label %a, !llvm.loop !7" without its metadata, of which llvm-spirv 15 makes OpLoopMerge: it
// is not valid if the block behind one loop belongs to another. Only hints are lost.
std::string_view without_loop_hints(std::string_view line) {
  return line.starts_with("  br ") ? line.substr(0, line.find(", !llvm.loop ")) : line;
}

} // namespace

unsigned IrKernel::node(const std::string& which) const {
  const auto found = nodes.find(which);
  return found == nodes.end() ? k_no_node : found->second;
}

IrNodes::IrNodes(std::string_view ir) {
  for (const std::string_view line : base::split_lines(ir)) {
    const std::size_t start = line.find("!{");
    if (!line.starts_with('!') || start == std::string_view::npos) {
      continue;
    }
    if (const auto number = leading_number(line.substr(1))) {
      const std::string_view rest = line.substr(start + 2);
      m_nodes.emplace(*number, rest.substr(0, rest.rfind('}')));
    }
  }
}

std::vector<std::string> IrNodes::strings(unsigned node) const {
  std::vector<std::string> strings;
  std::string_view rest = content(node);
  for (std::size_t start = rest.find("!\""); start != std::string_view::npos;
       start = rest.find("!\"")) {
    rest.remove_prefix(start + 2);
    const std::size_t end = std::min(rest.find('"'), rest.size());
    strings.push_back(unescaped(rest.substr(0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return strings;
}

std::vector<std::uint64_t> IrNodes::numbers(unsigned node) const {
  std::vector<std::uint64_t> numbers;
  std::string_view rest = content(node);
  constexpr std::string_view k_type = "i32 ";
  for (std::size_t start = rest.find(k_type); start != std::string_view::npos;
       start = rest.find(k_type)) {
    rest.remove_prefix(start + k_type.size());
    numbers.push_back(leading_number(rest).value_or(0));
  }
  return numbers;
}

std::string_view IrNodes::content(unsigned node) const {
  const auto found = m_nodes.find(node);
  return found == m_nodes.end() ? std::string_view() : found->second;
}

unsigned IrNodes::first_unused() const noexcept {
  return m_nodes.empty() ? 0 : m_nodes.rbegin()->first + 1;
}

std::vector<IrKernel> kernels_in(std::string_view ir) {
  std::vector<IrKernel> kernels;
  for (const std::string_view line : base::split_lines(ir)) {
    const auto kernel = line.starts_with("define ") ? kernel_in(line) : std::nullopt;
    if (kernel) {
      kernels.push_back(read_kernel(line.substr(kernel->symbol)));
    }
  }
  return kernels;
}

Result<KernelReflection> reflect(const IrKernel& kernel, const IrNodes& nodes) {
  KernelReflection reflection;
  reflection.name = kernel.name;
  const auto names = nodes.strings(kernel.node("kernel_arg_name"));
  const auto types = nodes.strings(kernel.node("kernel_arg_type"));
  const auto access = nodes.strings(kernel.node("kernel_arg_access_qual"));
  const auto qualifiers = nodes.strings(kernel.node("kernel_arg_type_qual"));
  const auto spaces = nodes.numbers(kernel.node("kernel_arg_addr_space"));
  for (const std::size_t count : {types.size(), access.size(), qualifiers.size(), spaces.size()}) {
    if (count != names.size()) {
      return fail(ErrorCode::damaged,
                  "the compiler describes {} and {} arguments of the kernel '{}'", names.size(),
                  count, kernel.name);
    }
  }
  auto& arguments = reflection.arguments.emplace();
  for (std::size_t i = 0; i < names.size(); ++i) {
    KernelArgument argument;
    argument.name = names[i];
    argument.type_name = types[i];
    argument.address_space = address_space_of(spaces[i]);
    argument.access = access_of(access[i]);
    add_qualifiers(qualifiers[i], argument);
    arguments.push_back(std::move(argument));
  }
  reflection.argument_count = static_cast<std::uint32_t>(names.size());
  const auto sizes = nodes.numbers(kernel.node("reqd_work_group_size"));
  if (sizes.size() == 3) {
    std::ranges::copy(sizes, reflection.required_work_group_size.begin());
  }
  return reflection;
}

std::string with_callable_kernels(std::string_view ir) {
  Symbols called = callable_kernels(ir);
  if (called.empty()) {
    return std::string(ir);
  }
  CallableKernels kernels(std::move(called));
  for (const std::string_view line : base::split_lines(ir)) {
    kernels.add(line);
  }
  return kernels.take();
}

std::string source_place(std::string_view ir, std::string_view spelling) {
  for (const std::string_view line : base::split_lines(ir)) {
    const std::string_view node = field(line, ", !dbg !");
    if (!line.starts_with("  ") || node.empty() || line.find(spelling) == std::string_view::npos) {
      continue;
    }
    const std::string_view location = metadata(ir, node);
    const std::string_view scope = metadata(ir, field(location, "scope: !"));
    const std::string_view file = metadata(ir, field(scope, "file: !"));
    constexpr std::string_view k_name = "filename: \"";
    const std::size_t name = file.find(k_name);
    if (name != std::string_view::npos) {
      return fmt::format("{}:{}:{}", word_at(file, name + k_name.size(), "\""),
                         field(location, "line: "), field(location, "column: "));
    }
  }
  return {};
}

std::string repaired_for_spirv(std::string_view ir) {
  std::string text;
  std::size_t number = 0;
  for (const std::string_view line : base::split_lines(ir)) {
    text +=
        with_inlined_sampler(with_filter(with_constant_fence(without_short_vectors(
            with_known_dimension(with_vector_condition(without_loop_hints(line), number++)))))) +
        '\n';
  }
  return text;
}

} // namespace oclcc::offline
