#include "faults/fault_scenario.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <utility>

namespace clbin::faults {

namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

template <typename Value>
struct Named {
  std::string_view name;
  Value value;
};

constexpr std::array k_calls{
    Named<Call>{"clGetPlatformIDs", Call::get_platform_ids},
    Named<Call>{"clGetPlatformInfo", Call::get_platform_info},
    Named<Call>{"clGetDeviceIDs", Call::get_device_ids},
    Named<Call>{"clGetDeviceInfo", Call::get_device_info},
    Named<Call>{"clCreateContext", Call::create_context},
    Named<Call>{"clGetContextInfo", Call::get_context_info},
    Named<Call>{"clCreateProgramWithSource", Call::create_program_with_source},
    Named<Call>{"clCreateProgramWithBinary", Call::create_program_with_binary},
    Named<Call>{"clCreateProgramWithIL", Call::create_program_with_il},
    Named<Call>{"clBuildProgram", Call::build_program},
    Named<Call>{"clCompileProgram", Call::compile_program},
    Named<Call>{"clLinkProgram", Call::link_program},
    Named<Call>{"clGetProgramInfo", Call::get_program_info},
    Named<Call>{"clGetProgramBuildInfo", Call::get_program_build_info},
    Named<Call>{"clCreateKernel", Call::create_kernel},
    Named<Call>{"clCreateKernelsInProgram", Call::create_kernels_in_program},
    Named<Call>{"clEnqueueNDRangeKernel", Call::enqueue_nd_range_kernel},
    Named<Call>{"clReleaseProgram", Call::release_program},
};

constexpr std::array k_faults{
    Named<Fault>{"answer", Fault::answer},
    Named<Fault>{"reverse", Fault::reverse},
    Named<Fault>{"refuse", Fault::refuse},
    Named<Fault>{"fail", Fault::fail},
    Named<Fault>{"crash", Fault::crash},
    Named<Fault>{"panic", Fault::panic},
    Named<Fault>{"hang", Fault::hang},
    Named<Fault>{"allocate", Fault::allocate},
    Named<Fault>{"scribble", Fault::scribble},
    Named<Fault>{"lose-kernel", Fault::lose_kernel},
    Named<Fault>{"hide-kernel-names", Fault::hide_kernel_names},
    Named<Fault>{"cut-binary", Fault::cut_binary},
    Named<Fault>{"build-log", Fault::build_log},
};

constexpr std::array k_styles{
    Named<RefusalStyle>{"honest", RefusalStyle::honest},
    Named<RefusalStyle>{"null-success", RefusalStyle::null_success},
    Named<RefusalStyle>{"status-success", RefusalStyle::status_success},
    Named<RefusalStyle>{"unwritten-status", RefusalStyle::unwritten_status},
    Named<RefusalStyle>{"program-with-error", RefusalStyle::program_with_error},
    Named<RefusalStyle>{"last-status", RefusalStyle::last_status},
};

constexpr std::array k_origins{
    Named<ProgramOrigin>{"unknown", ProgramOrigin::unknown},
    Named<ProgramOrigin>{"source", ProgramOrigin::source},
    Named<ProgramOrigin>{"binary", ProgramOrigin::binary},
    Named<ProgramOrigin>{"il", ProgramOrigin::il},
};

constexpr std::array k_codes{
    Named<cl_int>{"CL_SUCCESS", CL_SUCCESS},
    Named<cl_int>{"CL_DEVICE_NOT_AVAILABLE", CL_DEVICE_NOT_AVAILABLE},
    Named<cl_int>{"CL_COMPILER_NOT_AVAILABLE", CL_COMPILER_NOT_AVAILABLE},
    Named<cl_int>{"CL_OUT_OF_RESOURCES", CL_OUT_OF_RESOURCES},
    Named<cl_int>{"CL_OUT_OF_HOST_MEMORY", CL_OUT_OF_HOST_MEMORY},
    Named<cl_int>{"CL_BUILD_PROGRAM_FAILURE", CL_BUILD_PROGRAM_FAILURE},
    Named<cl_int>{"CL_COMPILE_PROGRAM_FAILURE", CL_COMPILE_PROGRAM_FAILURE},
    Named<cl_int>{"CL_LINK_PROGRAM_FAILURE", CL_LINK_PROGRAM_FAILURE},
    Named<cl_int>{"CL_INVALID_VALUE", CL_INVALID_VALUE},
    Named<cl_int>{"CL_INVALID_DEVICE", CL_INVALID_DEVICE},
    Named<cl_int>{"CL_INVALID_BINARY", CL_INVALID_BINARY},
    Named<cl_int>{"CL_INVALID_BUILD_OPTIONS", CL_INVALID_BUILD_OPTIONS},
    Named<cl_int>{"CL_INVALID_PROGRAM", CL_INVALID_PROGRAM},
    Named<cl_int>{"CL_INVALID_KERNEL_NAME", CL_INVALID_KERNEL_NAME},
    Named<cl_int>{"CL_INVALID_OPERATION", CL_INVALID_OPERATION},
    Named<cl_int>{"CL_INVALID_COMPILER_OPTIONS", CL_INVALID_COMPILER_OPTIONS},
    Named<cl_int>{"CL_INVALID_LINKER_OPTIONS", CL_INVALID_LINKER_OPTIONS},
};

constexpr std::array k_info_names{
    Named<cl_uint>{"CL_PLATFORM_NAME", CL_PLATFORM_NAME},
    Named<cl_uint>{"CL_PLATFORM_VERSION", CL_PLATFORM_VERSION},
    Named<cl_uint>{"CL_PLATFORM_VENDOR", CL_PLATFORM_VENDOR},
    Named<cl_uint>{"CL_DEVICE_NAME", CL_DEVICE_NAME},
    Named<cl_uint>{"CL_DEVICE_VENDOR", CL_DEVICE_VENDOR},
    Named<cl_uint>{"CL_DEVICE_VERSION", CL_DEVICE_VERSION},
    Named<cl_uint>{"CL_DEVICE_OPENCL_C_VERSION", CL_DEVICE_OPENCL_C_VERSION},
    Named<cl_uint>{"CL_DEVICE_IL_VERSION", CL_DEVICE_IL_VERSION},
    Named<cl_uint>{"CL_DEVICE_EXTENSIONS", CL_DEVICE_EXTENSIONS},
    Named<cl_uint>{"CL_DRIVER_VERSION", CL_DRIVER_VERSION},
};

constexpr std::array k_signals{
    Named<int>{"SIGSEGV", SIGSEGV}, Named<int>{"SIGABRT", SIGABRT}, Named<int>{"SIGBUS", SIGBUS},
    Named<int>{"SIGFPE", SIGFPE},   Named<int>{"SIGILL", SIGILL},   Named<int>{"SIGKILL", SIGKILL},
};

template <typename Value, std::size_t Count>
std::string_view name_of(const std::array<Named<Value>, Count>& table, Value value) noexcept {
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const auto& row) { return row.value == value; });
  return found == table.end() ? std::string_view("?") : found->name;
}

template <typename Value, std::size_t Count>
Result<Value> look_up(const std::array<Named<Value>, Count>& table, std::string_view kind,
                      std::string_view name) {
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const auto& row) { return row.name == name; });
  if (found == table.end()) {
    return fail(ErrorCode::invalid_argument, "unknown {} '{}'", kind, name);
  }
  return found->value;
}

template <typename Number>
Result<Number> parse_number(std::string_view key, std::string_view text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    return fail(ErrorCode::invalid_argument, "{}= needs a number, not '{}'", key, text);
  }
  return number;
}

// Removes one word from the front of `rest`, and returns it without quotes. Empty at the end of the
// line.
Result<std::string> take_word(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t\r"), rest.size()));
  std::string word;
  bool is_quoted = false;
  while (!rest.empty()) {
    char letter = rest.front();
    if (!is_quoted && (letter == ' ' || letter == '\t' || letter == '\r' || letter == '#')) {
      break;
    }
    rest.remove_prefix(1);
    if (letter == '"') {
      is_quoted = !is_quoted;
      continue;
    }
    if (is_quoted && letter == '\\' && !rest.empty()) {
      letter = rest.front() == 'n' ? '\n' : rest.front();
      rest.remove_prefix(1);
    }
    word.push_back(letter);
  }
  if (is_quoted) {
    return fail(ErrorCode::invalid_argument, "a quote is not closed");
  }
  return word;
}

Result<void> set_call_range(Rule& rule, std::string_view text) {
  const auto dash = text.find('-');
  CLBIN_TRY_ASSIGN(rule.first_call, parse_number<std::uint64_t>("call", text.substr(0, dash)));
  if (dash == std::string_view::npos) {
    rule.last_call = rule.first_call;
  } else if (dash + 1 < text.size()) {
    CLBIN_TRY_ASSIGN(rule.last_call, parse_number<std::uint64_t>("call", text.substr(dash + 1)));
  }
  if (rule.first_call == 0 || rule.last_call < rule.first_call) {
    return fail(ErrorCode::invalid_argument, "call={} holds no call; they count from 1", text);
  }
  return {};
}

Result<cl_int> parse_code(std::string_view text) {
  if (text.starts_with("CL_")) {
    return look_up(k_codes, "code", text);
  }
  return parse_number<cl_int>("code", text);
}

Result<std::string> parse_hex(std::string_view text) {
  std::string bytes;
  for (; text.size() >= 2; text.remove_prefix(2)) {
    unsigned char byte = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + 2, byte, 16);
    if (error != std::errc() || end != text.data() + 2) {
      break;
    }
    bytes.push_back(static_cast<char>(byte));
  }
  if (!text.empty()) {
    return fail(ErrorCode::invalid_argument, "hex= needs pairs of hexadecimal digits, not '{}'",
                text);
  }
  return bytes;
}

Result<void> set_key(Rule& rule, std::string_view key, const std::string& value) {
  if (key == "at") {
    CLBIN_TRY_ASSIGN(rule.call, look_up(k_calls, "function", value));
  } else if (key == "style") {
    CLBIN_TRY_ASSIGN(rule.style, look_up(k_styles, "style", value));
  } else if (key == "code") {
    CLBIN_TRY_ASSIGN(rule.code, parse_code(value));
  } else if (key == "name") {
    CLBIN_TRY_ASSIGN(rule.info_name, look_up(k_info_names, "name", value));
  } else if (key == "signal") {
    CLBIN_TRY_ASSIGN(rule.signal_number, look_up(k_signals, "signal", value));
  } else if (key == "bytes") {
    CLBIN_TRY_ASSIGN(rule.bytes, parse_number<std::uint64_t>(key, value));
  } else if (key == "file") {
    CLBIN_TRY_ASSIGN(rule.file, parse_number<int>(key, value));
  } else if (key == "hex") {
    CLBIN_TRY_ASSIGN(rule.written, parse_hex(value));
  } else if (key == "origin") {
    CLBIN_TRY_ASSIGN(rule.origin, look_up(k_origins, "origin", value));
  } else if (key == "call") {
    return set_call_range(rule, value);
  } else if (key == "value" || key == "text" || key == "log") {
    rule.text = value;
  } else if (key == "kernel") {
    rule.kernel = value;
  } else if (key == "source") {
    rule.source = value;
  } else if (key == "platform") {
    rule.platform = value;
  } else if (key == "device") {
    rule.device = value;
  } else {
    return fail(ErrorCode::invalid_argument, "unknown key '{}'", key);
  }
  return {};
}

Result<void> need(bool is_there, Fault fault, std::string_view what) {
  if (!is_there) {
    return fail(ErrorCode::invalid_argument, "'{}' needs {}", to_string(fault), what);
  }
  return {};
}

// Checks that the rule has the keys that its fault requires, and that its function supports it.
Result<void> check_rule(Rule& rule) {
  switch (rule.fault) {
  case Fault::answer:
    CLBIN_TRY(need(rule.call == Call::get_device_info || rule.call == Call::get_platform_info,
                   rule.fault, "at=clGetDeviceInfo or at=clGetPlatformInfo"));
    CLBIN_TRY(need(rule.info_name.has_value(), rule.fault, "name=CL_…"));
    return need(rule.text.has_value(), rule.fault, "value=TEXT");
  case Fault::reverse:
    return need(rule.call == Call::get_device_ids || rule.call == Call::get_platform_ids ||
                    rule.call == Call::get_context_info || rule.call == Call::get_program_info,
                rule.fault,
                "at= one of clGetDeviceIDs, clGetPlatformIDs, clGetContextInfo and "
                "clGetProgramInfo");
  case Fault::refuse:
    rule.call = Call::create_program_with_binary;
    rule.code = rule.code.value_or(CL_INVALID_BINARY);
    return need(rule.style.has_value(), rule.fault, "style=STYLE");
  case Fault::fail:
    CLBIN_TRY(need(rule.code.has_value() && *rule.code != CL_SUCCESS, rule.fault,
                   "code=CODE, not success"));
    return need(rule.call.has_value() && rule.call != Call::release_program, rule.fault,
                "at=FUNCTION");
  case Fault::crash:
    rule.signal_number = rule.signal_number == 0 ? SIGSEGV : rule.signal_number;
    return need(rule.call.has_value(), rule.fault, "at=FUNCTION");
  case Fault::panic:
  case Fault::hang:
    return need(rule.call.has_value(), rule.fault, "at=FUNCTION");
  case Fault::allocate:
    CLBIN_TRY(need(rule.bytes.has_value(), rule.fault, "bytes=N"));
    return need(rule.call.has_value(), rule.fault, "at=FUNCTION");
  case Fault::scribble:
    CLBIN_TRY(need(rule.file >= 0 && !rule.written.empty(), rule.fault, "file=N and hex=BYTES"));
    return need(rule.call.has_value(), rule.fault, "at=FUNCTION");
  case Fault::lose_kernel:
    return need(rule.kernel.has_value(), rule.fault, "kernel=NAME");
  case Fault::cut_binary:
    return need(rule.bytes.has_value(), rule.fault, "bytes=N");
  case Fault::build_log:
    return need(rule.text.has_value(), rule.fault, "text=TEXT");
  case Fault::hide_kernel_names:
    break;
  }
  return {};
}

Result<std::optional<Rule>> parse_line(std::string_view line) {
  CLBIN_TRY_ASSIGN(const std::string fault, take_word(line));
  if (fault.empty()) {
    return std::nullopt;
  }
  Rule rule;
  CLBIN_TRY_ASSIGN(rule.fault, look_up(k_faults, "fault", fault));
  while (true) {
    CLBIN_TRY_ASSIGN(const std::string word, take_word(line));
    if (word.empty()) {
      break;
    }
    const auto equals = word.find('=');
    if (equals == std::string::npos) {
      return fail(ErrorCode::invalid_argument, "'{}' is not KEY=VALUE", word);
    }
    CLBIN_TRY(set_key(rule, std::string_view(word).substr(0, equals), word.substr(equals + 1)));
  }
  CLBIN_TRY(check_rule(rule));
  return rule;
}

} // namespace

std::string_view to_string(Call call) noexcept {
  return name_of(k_calls, call);
}

std::string_view to_string(Fault fault) noexcept {
  return name_of(k_faults, fault);
}

std::string_view to_string(RefusalStyle style) noexcept {
  return name_of(k_styles, style);
}

std::string_view to_string(ProgramOrigin origin) noexcept {
  return name_of(k_origins, origin);
}

Result<std::vector<Rule>> parse_scenario(std::string_view text) {
  std::vector<Rule> rules;
  unsigned line_number = 0;
  while (!text.empty()) {
    ++line_number;
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    auto rule = parse_line(line);
    if (!rule) {
      return base::add_context(rule.error(), fmt::format("line {}", line_number));
    }
    if (rule->has_value()) {
      (*rule)->line = line_number;
      rules.push_back(*std::move(*rule));
    }
  }
  return rules;
}

} // namespace clbin::faults
