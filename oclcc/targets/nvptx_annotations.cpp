#include "targets/nvptx_passes.hpp"

#include "targets/llvm_ir.hpp"
#include "targets/tools.hpp"

#include <fmt/format.h>

namespace oclcc::offline {

namespace {

// Written by the overlay's printf for each string.
constexpr std::string_view k_pass_call = " i64 @_Z12__oclcc_passPU3AS4Kc(";
constexpr std::string_view k_sampler_call = "@__translate_sampler_initializer(i32 ";
constexpr std::string_view k_sqrt = "@llvm.sqrt.f32(";
constexpr std::string_view k_approximate_sqrt = "@llvm.nvvm.sqrt.approx.f(";
constexpr std::string_view k_annotations = "!nvvm.annotations = !{";
// Of reads without a sampler, in OpenCL's coding of samplers.
constexpr unsigned k_default_sampler = 16;

// The back end's coding of a sampler: address mode, normalized coordinates << 3, linear << 4.
unsigned sampler_state(unsigned sampler) {
  constexpr unsigned k_address_modes[] = {0, 2, 1, 3, 4}; // by OpenCL's number / 2
  const unsigned mode = std::min((sampler & 0xeU) / 2, 4U);
  return k_address_modes[mode] | (sampler & 1U) << 3U | (sampler >> 5U & 1U) << 4U;
}

bool is_image(std::string_view type) {
  return type.starts_with("image") && type.ends_with("_t");
}

std::string_view annotation_of(std::string_view access) {
  if (access == "write_only") {
    return "wroimage";
  }
  return access == "read_write" ? "rdwrimage" : "rdoimage";
}

// The words between "define" and the type of the result.
struct DefinitionHead {
  std::string_view linkage;
  std::string convention; // with a space behind it, or empty
  bool is_kernel = false;
  std::size_t size = 0; // up to the type
};

DefinitionHead read_head(std::string_view line) {
  constexpr std::string_view k_linkages[] = {"private",  "internal", "available_externally",
                                             "linkonce", "weak",     "linkonce_odr",
                                             "weak_odr", "external", "common"};
  constexpr std::string_view k_other_words[] = {"dso_local", "dso_preemptable", "default", "hidden",
                                                "protected"};
  constexpr std::string_view k_conventions[] = {"spir_func",  "spir_kernel", "ptx_kernel",
                                                "ptx_device", "fastcc",      "ccc"};
  const auto is_among = [](std::string_view word, const auto& words) {
    return std::ranges::find(words, word) != std::end(words);
  };
  DefinitionHead head;
  head.size = std::string_view("define ").size();
  for (std::size_t end = line.find(' ', head.size); end != std::string_view::npos;
       end = line.find(' ', head.size)) {
    const std::string_view word = line.substr(head.size, end - head.size);
    if (is_among(word, k_linkages)) {
      head.linkage = word;
    } else if (is_among(word, k_conventions)) {
      head.convention = fmt::format("{} ", word);
      head.is_kernel = word.ends_with("_kernel");
    } else if (!is_among(word, k_other_words)) {
      break;
    }
    head.size = end + 1;
  }
  return head;
}

// Returns the end of the argument that starts at `start`: its comma, or the parenthesis or the end
// of the list.
std::size_t argument_end(std::string_view line, std::size_t start) {
  int depth = 0;
  std::size_t at = start;
  for (; at < line.size(); ++at) {
    const char character = line[at];
    if (depth == 0 && (character == ',' || character == ')')) {
      break;
    }
    depth += character == '(' || character == '<' ? 1 : 0;
    depth -= character == ')' || character == '>' ? 1 : 0;
  }
  return at;
}

// Of an internal function: those of the libraries, which are mangled, take no images.
bool may_use_images(std::string_view line) {
  const std::size_t name = line.find('@');
  const std::string_view symbol = line.substr(std::min(name + 1, line.size()));
  const bool is_mangled = symbol.starts_with("_Z") || symbol.starts_with("__");
  const std::string_view head = symbol.substr(0, symbol.find('('));
  return !is_mangled || head.find("ocl_image") != std::string_view::npos ||
         head.find("ocl_sampler") != std::string_view::npos;
}

class Annotator {
public:
  Annotator(std::string_view ir, const NvptxSettings& settings)
      : m_ir(ir), m_nodes(ir), m_settings(settings), m_next_node(m_nodes.first_unused()) {}

  Result<std::string> annotate() {
    for (const IrKernel& kernel : kernels_in(m_ir)) {
      annotate_kernel(kernel);
    }
    if (m_has_images) {
      m_samplers.insert(k_default_sampler);
    }
    for (const std::string_view line : base::split_lines(m_ir)) {
      CLBIN_TRY(edit(line));
    }
    if (m_settings.square_root == SquareRoot::approximate) {
      m_text += fmt::format("declare float {}float)\n", k_approximate_sqrt);
    }
    add_samplers();
    add_copies();
    std::ranges::for_each(m_divided, [&](unsigned width) { add_division(width); });
    std::ranges::for_each(m_compared, [&](const auto& predicate) { add_comparison(predicate); });
    add_annotations();
    return std::move(m_text);
  }

private:
  void add_node(const std::string& content) {
    m_added += fmt::format("!{} = !{{{}}}\n", m_next_node, content);
    m_annotations.push_back(m_next_node++);
  }

  void annotate_kernel(const IrKernel& kernel) {
    if (m_settings.max_registers) {
      add_node(
          fmt::format("ptr @{}, !\"maxnreg\", i32 {}", kernel.symbol, *m_settings.max_registers));
    }
    if (const auto sizes = m_nodes.numbers(kernel.node("reqd_work_group_size"));
        sizes.size() == 3) {
      add_node(fmt::format("ptr @{}, !\"reqntidx\", i32 {}, !\"reqntidy\", i32 {}, !\"reqntidz\", "
                           "i32 {}",
                           kernel.symbol, sizes[0], sizes[1], sizes[2]));
    }
    const auto access = m_nodes.strings(kernel.node("kernel_arg_access_qual"));
    const auto types = m_nodes.strings(kernel.node("kernel_arg_base_type"));
    for (std::size_t i = 0; i < std::min(access.size(), types.size()); ++i) {
      if (types[i] == "sampler_t") {
        m_handles[kernel.symbol].insert(i);
        add_node(fmt::format("ptr @{}, !\"sampler\", i32 {}", kernel.symbol, i));
      } else if (is_image(types[i])) {
        m_has_images = true;
        m_handles[kernel.symbol].insert(i);
        add_node(
            fmt::format("ptr @{}, !\"{}\", i32 {}", kernel.symbol, annotation_of(access[i]), i));
      }
    }
  }

  Result<void> edit(std::string_view line) {
    if (line.starts_with(k_annotations)) {
      m_old_annotations = line.substr(k_annotations.size());
      m_old_annotations = m_old_annotations.substr(0, m_old_annotations.rfind('}'));
      return {};
    }
    std::string edited(line);
    if (line.starts_with("declare ")) {
      edit_declaration(edited);
    } else if (line.starts_with("define ")) {
      edit_definition(edited);
    } else if (line == "entry:") {
      edited += std::exchange(m_conversions, {});
    } else if (line.starts_with("attributes ")) {
      edit_attributes(edited);
    } else if (line.starts_with('@')) {
      note_constant(line);
    } else if (line.starts_with("  ")) {
      CLBIN_TRY(edit_string(edited));
      CLBIN_TRY(edit_samplers(edited));
      edit_square_roots(edited);
      edit_half(edited);
    }
    m_text += edited + "\n";
    return {};
  }

  // Declarations of functions that are defined, or declared again, below, become empty lines.
  void edit_declaration(std::string& line) const {
    constexpr std::string_view k_replaced[] = {"@oclcc_sampler_",
                                               "@__translate_sampler_initializer("};
    const auto names = [&](std::string_view function) {
      return line.find(function) != std::string::npos;
    };
    const bool is_root = names(k_sqrt) || names(k_approximate_sqrt);
    if (std::ranges::any_of(k_replaced, names) ||
        (m_settings.square_root == SquareRoot::approximate && is_root)) {
      line.clear();
    }
  }

  // clang gives linked functions the attributes of -cl-fast-relaxed-math, too, for which the back
  // end drops roundings that they depend on: pow() was wrong by more than 100 %. The program's own
  // instructions have flags.
  void edit_attributes(std::string& line) const {
    if (m_has_images) {
      erase_word(line, " noinline");
    }
    constexpr std::string_view k_relaxed = R"(-fp-math"="true")";
    for (std::size_t at = line.find(k_relaxed); at != std::string::npos;
         at = line.find(k_relaxed)) {
      line.replace(at, k_relaxed.size(), R"(-fp-math"="false")");
    }
  }

  // The back end has no option that works for square roots.
  void edit_square_roots(std::string& line) const {
    if (m_settings.square_root != SquareRoot::approximate) {
      return;
    }
    for (std::size_t at = line.find(k_sqrt); at != std::string::npos; at = line.find(k_sqrt)) {
      line.replace(at, k_sqrt.size(), k_approximate_sqrt);
    }
  }

  // "%q = fdiv <2 x half> %a, %b" → "%q = call <2 x half> @oclcc_divide_2(<2 x half> %a, …". The
  // back end divides half in float, with the error of float's division, and rounds that. That of
  // clang 19 cannot select a comparison of two components whose result becomes a vector of short.
  void edit_half(std::string& line) {
    const std::size_t division = line.find(" = fdiv ");
    const bool is_division = division != std::string::npos;
    const std::size_t operation = is_division ? division : line.find(" = fcmp ");
    const std::size_t element = line.find("half", std::min(operation, line.size()));
    if (element == std::string::npos) {
      return;
    }
    const std::size_t end = line.find(' ', element);
    const std::size_t start = line[end - 1] == '>' ? line.rfind('<', element) : element;
    unsigned width = 1;
    std::from_chars(line.data() + start + 1, line.data() + element, width);
    if (!is_division && width != 2) {
      return;
    }
    std::string function = fmt::format("divide_{}", width);
    if (is_division) {
      m_divided.insert(width);
    } else {
      const std::size_t predicate = line.rfind(' ', start - 2) + 1;
      function = "compare_" + line.substr(predicate, start - 1 - predicate);
      m_compared.insert(line.substr(predicate, start - 1 - predicate));
    }
    const std::string type = line.substr(start, end - start);
    const std::size_t first_end = argument_end(line, end + 1);
    const std::size_t second = first_end + 2; // behind ", "
    const std::size_t second_end = argument_end(line, second);
    line = fmt::format("{0} = call {1} @oclcc_{2}({3} {4}, {3} {5}){6}", line.substr(0, operation),
                       is_division ? type : "<2 x i1>", function, type,
                       line.substr(end + 1, first_end - end - 1),
                       line.substr(second, second_end - second), line.substr(second_end));
  }

  // `predicate` is that of an operator: oeq, une, olt, ole, ogt, or oge.
  void add_comparison(const std::string& predicate) {
    m_text += fmt::format(
        "define internal <2 x i1> @oclcc_compare_{}(<2 x half> %a, <2 x half> %b) alwaysinline "
        "nounwind {{\n"
        "  %x = bitcast <2 x half> %a to i32\n  %y = bitcast <2 x half> %b to i32\n"
        "  %m = call i32 asm \"{{ .reg .pred p, q; .reg .b16 l, h; setp.{}.f16x2 p|q, $1, $2; "
        "selp.b16 l, 1, 0, p; selp.b16 h, 1, 0, q; mov.b32 $0, {{l, h}}; }}\", \"=r,r,r\""
        "(i32 %x, i32 %y)\n"
        "  %v = bitcast i32 %m to <2 x i16>\n  %r = icmp ne <2 x i16> %v, zeroinitializer\n"
        "  ret <2 x i1> %r\n}}\n",
        predicate, predicate == "une" ? "neu" : predicate.substr(1));
  }

  // Rounding the quotient of float to half again gives the correctly rounded one (half.cl). LLVM
  // replaces its function for the instruction by its own division, but not assembler text.
  void add_division(unsigned width) {
    const std::string type = width == 1 ? "half" : fmt::format("<{} x half>", width);
    m_text += fmt::format("define internal {0} @oclcc_divide_{1}({0} %a, {0} %b) alwaysinline "
                          "nounwind {{\n",
                          type, width);
    for (const char argument : {'a', 'b'}) {
      m_text += fmt::format("  %{0}v = bitcast {1} %{0} to <{2} x half>\n"
                            "  %{0}f = fpext <{2} x half> %{0}v to <{2} x float>\n",
                            argument, type, width);
    }
    for (unsigned i = 0; i < width; ++i) {
      m_text += fmt::format("  %a{0} = extractelement <{1} x float> %af, i32 {0}\n"
                            "  %b{0} = extractelement <{1} x float> %bf, i32 {0}\n"
                            "  %q{0} = call float asm \"div.rn.f32 $0, $1, $2;\", \"=f,f,f\""
                            "(float %a{0}, float %b{0})\n"
                            "  %r{2} = insertelement <{1} x float> {3}, float %q{0}, i32 {0}\n",
                            i, width, i + 1, i == 0 ? "undef" : fmt::format("%r{}", i));
    }
    m_text += fmt::format("  %h = fptrunc <{0} x float> %r{0} to <{0} x half>\n"
                          "  %r = bitcast <{0} x half> %h to {1}\n  ret {1} %r\n}}\n",
                          width, type);
  }

  static Result<void> not_constant() {
    return fail(ErrorCode::invalid_argument,
                "printf: the format and each string must be constant on NVIDIA's devices");
  }

  // "%5 = call i64 @…pass…(ptr addrspace(4) @.str) #7" → the address of a copy. Constants precede
  // functions.
  Result<void> edit_string(std::string& line) {
    const std::size_t call = line.find(k_pass_call);
    if (call == std::string::npos) {
      return {};
    }
    const std::size_t end = line.find(')', line.find(')', call) + 1); // after "addrspace(4)"
    const std::size_t name = line.rfind(' ', end) + 1;
    const std::size_t equals = line.find(" = ");
    if (end == std::string::npos || equals == std::string::npos || line[name] != '@') {
      return not_constant();
    }
    const std::string constant = line.substr(name + 1, end - name - 1);
    if (m_constants.find(constant) == m_constants.end()) {
      return not_constant();
    }
    const std::size_t copy = m_copies.emplace(constant, m_copies.size()).first->second;
    line = fmt::format("{} = ptrtoint ptr addrspacecast (ptr addrspace(1) @oclcc_text_{} to ptr) "
                       "to i64",
                       line.substr(0, equals), copy);
    return {};
  }

  Result<void> edit_samplers(std::string& line) {
    for (std::size_t at = line.find(k_sampler_call); at != std::string::npos;
         at = line.find(k_sampler_call)) {
      const char* const number = line.data() + at + k_sampler_call.size();
      unsigned sampler = 0;
      const auto [end, error] = std::from_chars(number, line.data() + line.size(), sampler);
      if (error != std::errc() || *end != ')') {
        return fail(ErrorCode::invalid_argument, "a sampler must be constant on NVIDIA's devices");
      }
      m_samplers.insert(sampler);
      line.replace(at, static_cast<std::size_t>(end - line.data()) + 1 - at,
                   fmt::format("@oclcc_sampler_{}()", sampler));
    }
    return {};
  }

  static void erase_word(std::string& line, std::string_view word) {
    if (const std::size_t at = line.find(word); at != std::string::npos) {
      line.erase(at, word.size());
    }
  }

  // "define weak hidden spir_func float @f(…) local_unnamed_addr #3 {"
  void edit_definition(std::string& line) {
    const DefinitionHead head = read_head(line);
    if (head.is_kernel) {
      return edit_handles(line);
    }
    if (head.linkage == "available_externally") {
      return;
    }
    const bool is_internal = head.linkage == "internal" || head.linkage == "private";
    if (m_has_images && (!is_internal || may_use_images(line))) {
      // The attributes follow the arguments.
      if (const std::size_t attributes = line.find(" #", line.find(')'));
          attributes != std::string::npos) {
        line.insert(attributes, " alwaysinline");
      }
    }
    if (!is_internal) {
      line.replace(0, head.size, fmt::format("define internal {}", head.convention));
    }
  }

  // "@k(ptr addrspace(1) %i, …" → "@k(i64 %oclcc_handle_0, …" and a pointer made of it. LLVM would
  // insert conversions of a pointer to an integer in several blocks, and join them by a phi; the
  // back end then crashes, because it searches the parameter behind each handle.
  void edit_handles(std::string& line) {
    const std::size_t name = line.find('@') + 1;
    std::size_t start = line.find('(', name);
    const auto handles = m_handles.find(std::string_view(line).substr(name, start - name));
    if (handles == m_handles.end()) {
      return;
    }
    for (std::size_t i = 0; start < line.size() && line[start] != ')'; ++i) {
      start += i == 0 ? 1 : 2; // behind "(" or ", "
      std::size_t end = argument_end(line, start);
      const std::string argument = line.substr(start, end - start);
      const std::size_t value = argument.rfind('%');
      const bool is_named =
          value != std::string::npos && argument.find_first_of("0123456789", value) != value + 1;
      if (handles->second.contains(i) && is_named) {
        const std::string handle = fmt::format("%oclcc_handle_{}", i);
        m_conversions += fmt::format("\n  {} = inttoptr i64 {} to {}", argument.substr(value),
                                     handle, argument.substr(0, argument.find(')') + 1));
        const std::string replacement = "i64 " + handle;
        line.replace(start, argument.size(), replacement);
        end = start + replacement.size();
      }
      start = end;
    }
  }

  // "@.str = private … addrspace(4) constant [3 x i8] c"…", align 1"
  void note_constant(std::string_view line) {
    constexpr std::string_view k_constant = " constant ";
    const std::size_t value = line.find(k_constant);
    if (value != std::string_view::npos) {
      m_constants.emplace(line.substr(1, line.find(' ') - 1),
                          line.substr(value + k_constant.size()));
    }
  }

  void add_samplers() {
    for (const unsigned sampler : m_samplers) {
      const std::string state = fmt::format("oclcc_sampler_state_{}", sampler);
      m_text += fmt::format("@{} = internal addrspace(1) global i64 {}, align 8\n", state,
                            sampler_state(sampler));
      m_text += fmt::format(
          "define linkonce_odr ptr addrspace(4) @oclcc_sampler_{}() alwaysinline nounwind {{\n"
          // convergent, or LLVM may join two calls by a phi, with which clang 15 crashes.
          "  %h = call i64 @llvm.nvvm.texsurf.handle.internal.p1(ptr addrspace(1) @{}) convergent\n"
          "  %p = inttoptr i64 %h to ptr addrspace(4)\n"
          "  ret ptr addrspace(4) %p\n"
          "}}\n",
          sampler, state);
      add_node(fmt::format("ptr addrspace(1) @{}, !\"sampler\", i32 1", state));
    }
    if (!m_samplers.empty()) {
      m_text += "declare i64 @llvm.nvvm.texsurf.handle.internal.p1(ptr addrspace(1))\n";
    }
  }

  void add_copies() {
    for (const auto& [name, copy] : m_copies) {
      m_text += fmt::format("@oclcc_text_{} = internal unnamed_addr addrspace(1) constant {}\n",
                            copy, m_constants.at(name));
    }
  }

  void add_annotations() {
    m_text += m_added;
    std::string list(m_old_annotations);
    for (const unsigned node : m_annotations) {
      list += fmt::format("{}!{}", list.empty() ? "" : ", ", node);
    }
    if (!list.empty()) {
      m_text += fmt::format("{}{}}}\n", k_annotations, list);
    }
  }

  std::string_view m_ir;
  IrNodes m_nodes;
  NvptxSettings m_settings;
  unsigned m_next_node;
  bool m_has_images = false;
  std::map<std::string, std::set<std::size_t>, std::less<>> m_handles; // arguments of kernels
  std::string m_conversions; // for the entry of the kernel that is being read
  std::set<unsigned> m_samplers;
  std::set<unsigned> m_divided; // numbers of components of half
  std::set<std::string> m_compared;
  std::map<std::string, std::size_t> m_copies; // constants to the numbers of their copies
  std::map<std::string, std::string_view, std::less<>> m_constants;
  std::string_view m_old_annotations;
  std::vector<unsigned> m_annotations;
  std::string m_added;
  std::string m_text;
};

} // namespace

Result<std::string> annotate_nvptx(std::string_view ir, const NvptxSettings& settings) {
  return Annotator(ir, settings).annotate();
}

} // namespace oclcc::offline
