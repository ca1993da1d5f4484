#include "targets/nvptx_passes.hpp"

#include "targets/llvm_ir.hpp"
#include "targets/tools.hpp"

#include <fmt/format.h>

namespace oclcc::offline {

namespace {

constexpr std::string_view k_white_space = " \t\n";

// Returns the name behind ".func": "(.param .b32 result) NAME\n(\n".
std::string_view function_name(std::string_view head) {
  head.remove_prefix(std::min(head.find_first_not_of(k_white_space), head.size()));
  if (head.starts_with('(')) {
    head.remove_prefix(std::min(head.find(')') + 1, head.size()));
    head.remove_prefix(std::min(head.find_first_not_of(k_white_space), head.size()));
  }
  return head.substr(0, head.find_first_of(" \t\n("));
}

// Names of functions, mangled.
struct PtxFunctions {
  std::set<std::string, std::less<>> declared;
  std::set<std::string, std::less<>> defined;
  std::set<std::string, std::less<>> kernels;
  std::set<std::string, std::less<>> called;
};

// Returns what a call calls, after "call": ".uni (retval0), \n\tNAME, …". Empty if the call is
// indirect.
std::string_view call_target(std::string_view rest) {
  constexpr std::string_view k_uniform = ".uni";
  rest.remove_prefix(rest.starts_with(k_uniform) ? k_uniform.size() : 0);
  rest.remove_prefix(std::min(rest.find_first_not_of(k_white_space), rest.size()));
  if (rest.starts_with('(')) {
    rest.remove_prefix(std::min(rest.find(')'), rest.size()));
    rest.remove_prefix(std::min(rest.find_first_not_of(") ,\t\n"), rest.size()));
  }
  const std::string_view name = rest.substr(0, rest.find_first_of(" ,;(\t\n"));
  return name.starts_with('%') ? std::string_view() : name;
}

// Returns the instruction of a line, without its predicate: "@%p1 bra …".
std::string_view instruction_in(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(k_white_space), line.size()));
  if (line.starts_with('@')) {
    line.remove_prefix(std::min(line.find_first_of(k_white_space), line.size()));
    line.remove_prefix(std::min(line.find_first_not_of(k_white_space), line.size()));
  }
  return line;
}

PtxFunctions functions_in(std::string_view ptx) {
  constexpr std::string_view k_function = ".func ";
  constexpr std::string_view k_entry = ".entry ";
  constexpr std::string_view k_call = "call";
  PtxFunctions functions;
  while (!ptx.empty()) {
    const std::string_view rest = ptx;
    std::string_view line = take_line(ptx);
    line = line.substr(0, line.find("//"));
    if (const std::size_t at = line.find(k_function); at != std::string_view::npos) {
      const std::string_view head = rest.substr(at + k_function.size());
      const std::size_t end = head.find_first_of(";{");
      if (end != std::string_view::npos) {
        (head[end] == ';' ? functions.declared : functions.defined)
            .emplace(function_name(head.substr(0, end)));
      }
    } else if (const std::size_t entry = line.find(k_entry); entry != std::string_view::npos) {
      functions.kernels.emplace(function_name(rest.substr(entry + k_entry.size())));
    } else if (const std::string_view instruction = instruction_in(line);
               instruction.starts_with("call.") || instruction.starts_with("call ") ||
               instruction.starts_with("call\t")) {
      const auto start = static_cast<std::size_t>(instruction.data() - rest.data());
      functions.called.emplace(call_target(rest.substr(start + k_call.size())));
    }
  }
  functions.called.erase("");
  return functions;
}

bool is_image_instruction(std::string_view line) {
  constexpr std::string_view k_instructions[] = {"tex.", "tld4.", "txq.", "suld.", "sust.", "suq."};
  line.remove_prefix(std::min(line.find_first_not_of(k_white_space), line.size()));
  return std::ranges::any_of(k_instructions,
                             [&](std::string_view name) { return line.starts_with(name); });
}

// The emulation of a rotation begins so:
//   .reg .u32 %amt2;
//   shl.b64 %lhs, %rd1, %r2;
//   sub.u32 %amt2, 64, %r2;
// That of clang 17 and later is right:
//   .reg .u32 %amt2;
//   and.b32 %amt2, %r2, 63;
//   shl.b64 %lhs, %rd1, %amt2;
constexpr std::string_view k_rotation_start = "\t.reg .u32 %amt2;\n";
constexpr std::string_view k_rotation_distance = "\tsub.u32 \t%amt2, 64, ";

bool is_reduced(std::string_view emulation) {
  const std::string_view line = take_line(emulation);
  return line.starts_with("\tand.b32 \t%amt2, ") && line.ends_with(", 63;");
}

// The two instructions of a rotation, or std::nullopt if `text` does not start with them.
struct Rotation {
  std::string_view shift;    // "shl.b64 \t%lhs, %rd1"
  std::string_view distance; // "%r2"
  std::size_t size = 0;      // of both lines
};
std::optional<Rotation> read_rotation(std::string_view text) {
  const std::size_t size = text.size();
  const std::string_view shift = take_line(text);
  const std::string_view subtraction = take_line(text);
  const std::size_t comma = shift.rfind(", ");
  const bool is_shift =
      shift.starts_with("\tshl.b64 \t%lhs, ") || shift.starts_with("\tshr.b64 \t%lhs, ");
  if (!is_shift || !shift.ends_with(';') || !subtraction.starts_with(k_rotation_distance) ||
      subtraction.substr(k_rotation_distance.size()) != shift.substr(comma + 2)) {
    return std::nullopt;
  }
  const std::string_view distance = shift.substr(comma + 2, shift.size() - comma - 3);
  return Rotation{shift.substr(1, comma - 1), distance, size - text.size()};
}

// "setp.eq.s32 \t%p4, %r2, %r20;" → "setp.ne.s32 \t%oclcc_back, %r2, %r20;". Empty if the line does
// not compare two integers, with the result `predicate`: the opposite of an order of floats is
// none, and "setp.eq.and.s32" combines its result with another one.
std::string opposite_comparison(std::string_view line, std::string_view predicate) {
  constexpr std::pair<std::string_view, std::string_view> k_opposites[] = {
      {"eq", "ne"}, {"ne", "eq"}, {"lt", "ge"}, {"ge", "lt"}, {"gt", "le"}, {"le", "gt"}};
  constexpr std::string_view k_comparison = "\tsetp.";
  constexpr std::string_view k_type = ".s32";
  const std::string result = fmt::format(" \t{},", predicate);
  const std::size_t end = line.find(result);
  if (!line.starts_with(k_comparison) || end == std::string_view::npos ||
      end < k_comparison.size() + k_type.size()) {
    return {};
  }
  const std::string_view type = line.substr(end - k_type.size(), k_type.size());
  const auto* const found = std::ranges::find(
      k_opposites, line.substr(k_comparison.size(), end - k_type.size() - k_comparison.size()),
      &std::pair<std::string_view, std::string_view>::first);
  if (found == std::end(k_opposites) || type[0] != '.' || type[1] == 'f') {
    return {};
  }
  return fmt::format("setp.{}{} \t%oclcc_back,{}", found->second, type,
                     line.substr(end + result.size()));
}

// The label in "\tbra.uni \t$L__BB2_4;", behind `start`; empty if the line is another one.
std::string_view branch_target(std::string_view line, std::string_view start) {
  return line.starts_with(start) && line.ends_with(';')
             ? line.substr(start.size(), line.size() - start.size() - 1)
             : std::string_view();
}

// Returns what replaces the last two of three instructions, empty if these end no loop:
//   setp.eq.s32 %p4, %r2, %r20;
//   @%p4 bra $L__BB2_5;
//   bra.uni $L__BB2_4;
std::string loop_end(std::string_view comparison, std::string_view leave, std::string_view back,
                     const std::set<std::string_view>& labels) {
  constexpr std::string_view k_predicate = "\t@%p";
  const std::size_t branch = leave.find(" bra ");
  const std::string_view start = branch_target(back, "\tbra.uni \t");
  if (!leave.starts_with(k_predicate) || branch == std::string_view::npos ||
      !labels.contains(start)) {
    return {};
  }
  const std::string_view behind = branch_target(leave.substr(branch), " bra \t");
  const std::string opposite = opposite_comparison(comparison, leave.substr(2, branch - 2));
  if (behind.empty() || labels.contains(behind) || opposite.empty()) {
    return {};
  }
  return fmt::format("\t{{ .reg .pred %oclcc_back; {} @%oclcc_back bra \t{}; }}\n\tbra.uni \t{};\n",
                     opposite, start, behind);
}

// Whether a line is debug information: of -g.
bool is_debug_note(std::string_view line) {
  return line.starts_with("\t.loc\t") || line.starts_with("$L__tmp");
}

// A loop without branches inside, which ends when its counter equals what the loop does not change:
//   $L__BB2_4:
//     …
//     add.s32 %r20, %r20, 4;
//     …
//     setp.eq.s32 %p4, %r2, %r20;
//     { .reg .pred %oclcc_back; setp.ne.s32 %oclcc_back, %r2, %r20; @%oclcc_back bra $L__BB2_4; }
// Lines by their numbers.
struct CountedLoop {
  std::size_t label = 0;
  std::size_t end = 0;
  std::string_view bound;
  std::string_view counter;
  std::string_view step;
  std::string_view start;
};

// Whether a line contains a register.
bool names(std::string_view line, std::string_view name) {
  const std::size_t at = line.find(name);
  const std::size_t end = at + name.size();
  return at != std::string_view::npos && (end == line.size() || line[end] < '0' ||
                                          line[end] > '9' || names(line.substr(end), name));
}

// Whether an instruction assigns to a register, or may do: the text of some has another form.
//   { .reg .b32 tmp; mov.b64 {tmp, %r7}, %rd1; }
bool assigns(std::string_view line, std::string_view name) {
  const std::size_t start = line.find(" \t");
  if (start == std::string_view::npos || line.find('{') < start) {
    return names(line, name);
  }
  const std::string_view operands = line.substr(start + 2);
  const char end = operands.starts_with('{') ? '}' : ',';
  return names(operands.substr(0, operands.find(end)), name);
}

// The number in "\tadd.s32 \t%r20, %r20, 4;", empty if the line is another one.
std::string_view added_number(std::string_view line, const CountedLoop& loop) {
  const std::string start = fmt::format("\tadd.s32 \t{0}, {0}, ", loop.counter);
  return line.starts_with(start) && line.ends_with(';') && line.find('%', start.size()) == line.npos
             ? line.substr(start.size(), line.size() - start.size() - 1)
             : std::string_view();
}

// Finds the start of the loop and the step. Returns whether there are both.
bool complete_loop(const std::vector<std::string_view>& lines, CountedLoop& loop) {
  for (std::size_t i = loop.end; i-- > 0;) {
    const std::string_view line = lines[i];
    if (is_debug_note(line)) {
      continue;
    }
    if (line.starts_with('$')) {
      loop.label = i;
      return !loop.step.empty() && line.starts_with(fmt::format("{}:", loop.start));
    }
    const std::string_view step = added_number(line, loop);
    if (!step.empty() && loop.step.empty()) {
      loop.step = step;
    } else if (assigns(line, loop.counter) || assigns(line, loop.bound) ||
               line.starts_with("\t// begin inline asm")) {
      return false;
    }
  }
  return false;
}

// The loop that ends with this line.
std::optional<CountedLoop> counted_loop(const std::vector<std::string_view>& lines,
                                        std::size_t end) {
  constexpr std::string_view k_start = "\t{ .reg .pred %oclcc_back; setp.ne.s32 \t%oclcc_back, ";
  constexpr std::string_view k_branch = "; @%oclcc_back bra \t";
  constexpr std::string_view k_end = "; }";
  const std::string_view line = lines[end];
  const std::size_t comma = line.find(", ", k_start.size());
  const std::size_t branch = line.find(k_branch, comma);
  if (!line.starts_with(k_start) || branch == std::string_view::npos) {
    return std::nullopt;
  }
  const auto between = [&](std::size_t from, std::size_t to) {
    return line.substr(from, to - from);
  };
  CountedLoop loop;
  loop.end = end;
  loop.bound = between(k_start.size(), comma);
  loop.counter = between(comma + 2, branch);
  loop.start = between(branch + k_branch.size(), line.size() - k_end.size());
  CountedLoop other = loop;
  std::swap(other.bound, other.counter);
  if (complete_loop(lines, loop)) {
    return loop;
  }
  return complete_loop(lines, other) ? std::optional(other) : std::nullopt;
}

// How often each label is the operand of an instruction.
std::map<std::string_view, unsigned> branches_to_labels(std::string_view ptx) {
  std::map<std::string_view, unsigned> branches;
  for (std::size_t i = ptx.find('$'); i != std::string_view::npos; i = ptx.find('$', i + 1)) {
    const std::size_t end = std::min(ptx.find_first_of(";:, \n", i), ptx.size());
    branches[ptx.substr(i, end - i)] += end < ptx.size() && ptx[end] == ':' ? 0 : 1;
  }
  return branches;
}

// "reqd_work_group_size(8,4,1)"; empty if the kernel has no such node.
std::string sizes_attribute(const IrKernel& kernel, const IrNodes& nodes, const char* name) {
  const auto sizes = nodes.numbers(kernel.node(name));
  return sizes.size() == 3 ? fmt::format("{}({})", name, fmt::join(sizes, ",")) : std::string();
}

// The node is `<4 x float> undef, i32 0`: a type, and whether it is signed.
std::string type_hint_attribute(const IrKernel& kernel, const IrNodes& nodes) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> k_types = {
      {{"float", "float"},
       {"double", "double"},
       {"half", "half"},
       {"i8", "char"},
       {"i16", "short"},
       {"i32", "int"},
       {"i64", "long"}}};
  std::string_view type = nodes.content(kernel.node("vec_type_hint"));
  const bool is_signed = type.ends_with("i32 1");
  type = type.substr(0, type.find(','));
  std::string_view width;
  if (type.starts_with('<')) {
    width = type.substr(1, type.find(' ') - 1);
    type = type.substr(std::min(type.find("x ") + 2, type.size()));
  }
  type = type.substr(0, type.find_first_of(" >"));
  const auto* const found =
      std::ranges::find_if(k_types, [&](const auto& pair) { return pair.first == type; });
  if (found == k_types.end()) {
    return {};
  }
  const bool is_unsigned = type.starts_with('i') && !is_signed;
  return fmt::format("vec_type_hint({}{}{})", is_unsigned ? "u" : "", found->second, width);
}

} // namespace

std::vector<std::string> unresolved_functions(std::string_view ptx) {
  PtxFunctions functions = functions_in(ptx);
  functions.defined.emplace("vprintf");
  functions.defined.merge(functions.kernels);
  functions.declared.merge(functions.called);
  std::vector<std::string> unresolved;
  std::set_difference(functions.declared.begin(), functions.declared.end(),
                      functions.defined.begin(), functions.defined.end(),
                      std::back_inserter(unresolved));
  return unresolved;
}

std::vector<std::string> called_kernels(std::string_view ptx) {
  const PtxFunctions functions = functions_in(ptx);
  std::vector<std::string> kernels;
  std::set_intersection(functions.called.begin(), functions.called.end(), functions.kernels.begin(),
                        functions.kernels.end(), std::back_inserter(kernels));
  return kernels;
}

std::vector<std::string> unresolved_variables(std::string_view ptx) {
  std::vector<std::string> variables;
  for (const std::string_view line : base::split_lines(ptx)) {
    if (!line.starts_with(".extern ") || line.starts_with(".extern .func")) {
      continue;
    }
    // ".extern .const .align 4 .b8 table[16];"
    const std::string_view declaration = line.substr(0, line.find_first_of("[;"));
    variables.emplace_back(declaration.substr(declaration.rfind(' ') + 1));
  }
  return variables;
}

std::vector<std::string> functions_with_images(std::string_view ptx) {
  constexpr std::string_view k_function = ".func ";
  std::vector<std::string> functions;
  std::string current; // empty in a kernel
  std::string_view rest = ptx;
  while (!rest.empty()) {
    const std::string_view before = rest;
    const std::string_view line = take_line(rest);
    if (const std::size_t at = line.find(k_function);
        at != std::string_view::npos && line.substr(0, at).find("//") == std::string_view::npos) {
      current = function_name(before.substr(at + k_function.size()));
    } else if (line.find(".entry ") != std::string_view::npos) {
      current.clear();
    } else if (!current.empty() && is_image_instruction(line)) {
      functions.push_back(std::exchange(current, std::string()));
    }
  }
  return functions;
}

Result<std::string> with_reduced_rotations(std::string_view ptx) {
  std::string result;
  for (std::size_t at = ptx.find(k_rotation_start); at != std::string_view::npos;
       at = ptx.find(k_rotation_start)) {
    result += ptx.substr(0, at);
    ptx.remove_prefix(at + k_rotation_start.size());
    if (is_reduced(ptx)) {
      result += k_rotation_start;
      continue;
    }
    const auto rotation = read_rotation(ptx);
    if (!rotation) {
      return fail(ErrorCode::internal,
                  "clang emulates a 64-bit rotation with an unknown sequence of instructions");
    }
    ptx.remove_prefix(rotation->size);
    result +=
        fmt::format("\t.reg .u32 %amt1;\n{}\tand.b32 \t%amt1, {}, 63;\n\t{}, %amt1;\n{}%amt1;\n",
                    k_rotation_start, rotation->distance, rotation->shift, k_rotation_distance);
  }
  result += ptx;
  return result;
}

std::string with_branches_back(std::string_view ptx) {
  const std::vector<std::string_view> lines = base::split_lines(ptx);
  std::set<std::string_view> labels; // before the line
  std::string text;
  bool is_of_program = false; // in assembler text
  const auto behind_notes = [&](std::size_t i) {
    while (i < lines.size() && is_debug_note(lines[i])) {
      ++i;
    }
    return i;
  };
  for (std::size_t i = 0; i < lines.size(); ++i) {
    is_of_program =
        lines[i] == "\t// begin inline asm" || (is_of_program && lines[i] != "\t// end inline asm");
    if (lines[i].starts_with('$')) {
      labels.insert(lines[i].substr(0, lines[i].find(':')));
    }
    text.append(lines[i]).append("\n");
    const std::size_t leave = behind_notes(i + 1);
    const std::size_t back = behind_notes(leave + 1);
    const std::string end = is_of_program || back >= lines.size()
                                ? std::string()
                                : loop_end(lines[i], lines[leave], lines[back], labels);
    if (end.empty()) {
      continue;
    }
    for (++i; i < back; ++i) {
      text += i == leave ? std::string() : fmt::format("{}\n", lines[i]);
    }
    text += end;
  }
  return text;
}

std::string with_counts_down(std::string_view ptx) {
  const std::vector<std::string_view> lines = base::split_lines(ptx);
  const auto branches = branches_to_labels(ptx);
  std::map<std::size_t, std::string> before; // of a line
  std::map<std::size_t, std::string> instead;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::optional<CountedLoop> loop = counted_loop(lines, i);
    if (!loop || branches.at(loop->start) != 1) {
      continue;
    }
    const std::string left = fmt::format("%oclcc_left{}", before.size());
    before[loop->label] = fmt::format("\t.reg .b32 {0};\n\tsub.s32 \t{0}, {1}, {2};\n", left,
                                      loop->bound, loop->counter);
    instead[i] = fmt::format("\tsub.s32 \t{0}, {0}, {1};\n\t{{ .reg .pred %oclcc_back; setp.ne.s32 "
                             "\t%oclcc_back, {0}, 0; @%oclcc_back bra \t{2}; }}\n",
                             left, loop->step, loop->start);
  }
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    text += before.contains(i) ? before.at(i) : std::string();
    text += instead.contains(i) ? instead.at(i) : fmt::format("{}\n", lines[i]);
  }
  return text;
}

Result<std::string> retargeted(std::string_view ptx, std::string_view version,
                               std::string_view architecture) {
  constexpr std::string_view k_version = "\n.version ";
  constexpr std::string_view k_target = "\n.target ";
  const std::size_t version_start = ptx.find(k_version);
  const std::size_t target_start = ptx.find(k_target);
  if (version_start == std::string_view::npos || target_start == std::string_view::npos ||
      target_start < version_start) {
    return fail(ErrorCode::internal, "clang wrote no PTX: it has no .version or no .target");
  }
  const std::string_view after_version = ptx.substr(version_start + k_version.size());
  const std::string_view after_target = ptx.substr(target_start + k_target.size());
  const std::size_t version_end =
      version_start + k_version.size() + after_version.find_first_not_of("0123456789.");
  return fmt::format(
      "{}{}{}{}{}{}{}", ptx.substr(0, version_start), k_version, version,
      ptx.substr(version_end, target_start - version_end), k_target, architecture,
      after_target.substr(std::min(after_target.find_first_of(",\n"), after_target.size())));
}

std::string attributes_section(std::string_view ir) {
  const IrNodes nodes(ir);
  std::string section;
  unsigned number = 0;
  for (const IrKernel& kernel : kernels_in(ir)) {
    // In the order of the driver.
    std::vector<std::string> attributes = {type_hint_attribute(kernel, nodes),
                                           sizes_attribute(kernel, nodes, "work_group_size_hint"),
                                           sizes_attribute(kernel, nodes, "reqd_work_group_size")};
    std::erase(attributes, std::string());
    if (!attributes.empty()) {
      section +=
          fmt::format("\t.metadata {} {{\n\t\t\"cl_kernel_attributes\", \"{}\", \"{}\"\n\t}}\n",
                      number++, kernel.name, fmt::join(attributes, " "));
    }
  }
  return section.empty() ? section : fmt::format(".metadata_section {{\n{}}}\n", section);
}

} // namespace oclcc::offline
