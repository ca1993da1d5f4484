// An OpenCL layer (CL/cl_layer.h) over the real drivers, for OPENCL_LAYERS: passes every call on,
// but for the faults of the scenario (fault_scenario.hpp), and logs what it saw. Log lines:
//
//   PID FUNCTION [NAME] [origin=…] [device='PLATFORM / DEVICE']… -> passed|FAULT code=N
//
// A crash or a hang is logged before it happens.

#include "faults/call_log.hpp"
#include "faults/scenario_state.hpp"

#include <CL/cl_layer.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <sys/resource.h>
#include <unistd.h>

#define CLBIN_LAYER_EXPORT extern "C" __attribute__((visibility("default")))

namespace clbin::faults {

namespace {

// Lives as long as the process: drivers call back until the very end.
struct Layer {
  const cl_icd_dispatch* next = nullptr; // the loader, or the layer below
  cl_icd_dispatch table{};
  ScenarioState state;
  CallLog log;
};

Layer& layer() {
  static Layer* const instance = new Layer;
  return *instance;
}

const cl_icd_dispatch& next() {
  return *layer().next;
}

// --- what a call is about -----------------------------------------------------------------------

template <typename Query>
std::string text_of(const Query& query) {
  std::size_t size = 0;
  if (query(0, nullptr, &size) != CL_SUCCESS || size == 0) {
    return {};
  }
  std::string text(size, '\0');
  if (query(size, text.data(), nullptr) != CL_SUCCESS) {
    return {};
  }
  text.resize(std::min(text.find('\0'), text.size()));
  return text;
}

template <typename Item, typename Query>
std::vector<Item> list_of(const Query& query) {
  std::size_t size = 0;
  if (query(0, nullptr, &size) != CL_SUCCESS) {
    return {};
  }
  std::vector<Item> items(size / sizeof(Item));
  if (!items.empty() && query(size, items.data(), nullptr) != CL_SUCCESS) {
    return {};
  }
  return items;
}

std::string platform_name(cl_platform_id platform) {
  return text_of([&](std::size_t size, void* value, std::size_t* size_ret) {
    return next().clGetPlatformInfo(platform, CL_PLATFORM_NAME, size, value, size_ret);
  });
}

Subject::DeviceName names_of(cl_device_id device) {
  cl_platform_id platform = nullptr;
  (void)next().clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform,
                               static_cast<void*>(&platform), nullptr);
  return {platform_name(platform), text_of([&](std::size_t size, void* value, std::size_t* ret) {
            return next().clGetDeviceInfo(device, CL_DEVICE_NAME, size, value, ret);
          })};
}

Subject subject_of(const std::vector<cl_device_id>& devices, ProgramOrigin origin) {
  Subject subject{{}, origin};
  for (cl_device_id device : devices) {
    subject.devices.push_back(names_of(device));
  }
  return subject;
}

Subject subject_of_platform(cl_platform_id platform) {
  return {{{platform_name(platform), {}}}, ProgramOrigin::unknown};
}

Subject subject_of_context(cl_context context, ProgramOrigin origin) {
  return subject_of(
      list_of<cl_device_id>([&](std::size_t size, void* value, std::size_t* size_ret) {
        return next().clGetContextInfo(context, CL_CONTEXT_DEVICES, size, value, size_ret);
      }),
      origin);
}

Subject subject_of_program(cl_program program) {
  return subject_of(
      list_of<cl_device_id>([&](std::size_t size, void* value, std::size_t* size_ret) {
        return next().clGetProgramInfo(program, CL_PROGRAM_DEVICES, size, value, size_ret);
      }),
      layer().state.origin_of(program));
}

Subject subject_of_build(cl_program program, cl_uint count, const cl_device_id* devices) {
  if (count == 0 || devices == nullptr) {
    return subject_of_program(program);
  }
  return subject_of({devices, devices + count}, layer().state.origin_of(program));
}

// --- log and the faults that any function can have ----------------------------------------------

std::string describe(Call call, const Subject& subject) {
  std::string text(to_string(call));
  if (subject.origin != ProgramOrigin::unknown) {
    text += fmt::format(" origin={}", to_string(subject.origin));
  }
  for (const auto& names : subject.devices) {
    text += fmt::format(" device='{} / {}'", names.platform, names.device);
  }
  return text;
}

void log_call(Call call, const Subject& subject, std::string_view outcome, cl_int code) {
  layer().log.write(fmt::format("{} -> {} code={}", describe(call, subject), outcome, code));
}

// The handlers of a sanitizer or of a driver must not turn a crash into something milder.
[[noreturn]] void crash(int signal_number) {
  (void)std::signal(signal_number, SIG_DFL);
  const rlimit no_core{0, 0};
  (void)::setrlimit(RLIMIT_CORE, &no_core);
  (void)std::raise(signal_number);
  ::_exit(125); // the signal was blocked: not what a test expects, and seen as such
}

[[noreturn]] void hang() {
  while (true) {
    ::pause();
  }
}

// Crashes or hangs if a rule says so. The rule that lets the call fail, if any.
std::optional<Rule> before(Call call, const Subject& subject) {
  if (const auto rule = layer().state.match(Fault::crash, call, subject)) {
    log_call(call, subject, to_string(rule->fault), rule->signal_number);
    crash(rule->signal_number);
  }
  if (const auto rule = layer().state.match(Fault::hang, call, subject)) {
    log_call(call, subject, to_string(rule->fault), 0);
    hang();
  }
  auto rule = layer().state.match(Fault::fail, call, subject);
  if (rule.has_value()) {
    log_call(call, subject, to_string(rule->fault), *rule->code);
  }
  return rule;
}

void set_code(cl_int* place, cl_int code) {
  if (place != nullptr) {
    *place = code;
  }
}

// Answers a query as the specification asks.
cl_int give_bytes(const void* bytes, std::size_t size, std::size_t value_size, void* value,
                  std::size_t* size_ret) {
  if (value != nullptr) {
    if (value_size < size) {
      return CL_INVALID_VALUE;
    }
    std::memcpy(value, bytes, size);
  }
  if (size_ret != nullptr) {
    *size_ret = size;
  }
  return CL_SUCCESS;
}

cl_int give_text(const std::string& text, std::size_t value_size, void* value,
                 std::size_t* size_ret) {
  return give_bytes(text.c_str(), text.size() + 1, value_size, value, size_ret);
}

// --- platforms and devices ----------------------------------------------------------------------

// All of them in the other order, as many as the caller has room for.
template <typename Item, typename Query>
cl_int reversed(cl_uint room, Item* items, cl_uint* count_ret, const Query& query) {
  cl_uint count = 0;
  if (const cl_int code = query(0, nullptr, &count); code != CL_SUCCESS) {
    return code;
  }
  std::vector<Item> all(count);
  if (const cl_int code = query(count, all.data(), nullptr); code != CL_SUCCESS) {
    return code;
  }
  std::reverse(all.begin(), all.end());
  if (items != nullptr) {
    std::copy_n(all.begin(), std::min<std::size_t>(room, all.size()), items);
  }
  if (count_ret != nullptr) {
    *count_ret = count;
  }
  return CL_SUCCESS;
}

cl_int CL_API_CALL get_platform_ids(cl_uint room, cl_platform_id* platforms, cl_uint* count) {
  const Subject subject;
  if (const auto rule = before(Call::get_platform_ids, subject)) {
    return *rule->code;
  }
  const bool is_reversed =
      layer().state.match(Fault::reverse, Call::get_platform_ids, subject).has_value();
  const cl_int code = is_reversed ? reversed(room, platforms, count, next().clGetPlatformIDs)
                                  : next().clGetPlatformIDs(room, platforms, count);
  log_call(Call::get_platform_ids, subject, is_reversed ? "reverse" : "passed", code);
  return code;
}

cl_int CL_API_CALL get_device_ids(cl_platform_id platform, cl_device_type type, cl_uint room,
                                  cl_device_id* devices, cl_uint* count) {
  const Subject subject = subject_of_platform(platform);
  if (const auto rule = before(Call::get_device_ids, subject)) {
    return *rule->code;
  }
  const bool is_reversed =
      layer().state.match(Fault::reverse, Call::get_device_ids, subject).has_value();
  const auto query = [&](cl_uint query_room, cl_device_id* query_devices, cl_uint* query_count) {
    return next().clGetDeviceIDs(platform, type, query_room, query_devices, query_count);
  };
  const cl_int code =
      is_reversed ? reversed(room, devices, count, query) : query(room, devices, count);
  log_call(Call::get_device_ids, subject, is_reversed ? "reverse" : "passed", code);
  return code;
}

std::optional<Rule> answer_for(Call call, const Subject& subject, cl_uint name) {
  for (auto& rule : layer().state.match_all(Fault::answer, call, subject)) {
    if (rule.info_name == name) {
      return std::move(rule);
    }
  }
  return std::nullopt;
}

cl_int CL_API_CALL get_platform_info(cl_platform_id platform, cl_platform_info name,
                                     std::size_t size, void* value, std::size_t* size_ret) {
  const Subject subject = subject_of_platform(platform);
  if (const auto rule = before(Call::get_platform_info, subject)) {
    return *rule->code;
  }
  const auto answer = answer_for(Call::get_platform_info, subject, name);
  const cl_int code = answer.has_value()
                          ? give_text(*answer->text, size, value, size_ret)
                          : next().clGetPlatformInfo(platform, name, size, value, size_ret);
  log_call(Call::get_platform_info, subject,
           fmt::format("{} name={:#x}", answer.has_value() ? "answer" : "passed", name), code);
  return code;
}

cl_int CL_API_CALL get_device_info(cl_device_id device, cl_device_info name, std::size_t size,
                                   void* value, std::size_t* size_ret) {
  const Subject subject = subject_of({device}, ProgramOrigin::unknown);
  if (const auto rule = before(Call::get_device_info, subject)) {
    return *rule->code;
  }
  const auto answer = answer_for(Call::get_device_info, subject, name);
  const cl_int code = answer.has_value()
                          ? give_text(*answer->text, size, value, size_ret)
                          : next().clGetDeviceInfo(device, name, size, value, size_ret);
  log_call(Call::get_device_info, subject,
           fmt::format("{} name={:#x}", answer.has_value() ? "answer" : "passed", name), code);
  return code;
}

using ContextCallback = void(CL_CALLBACK*)(const char*, const void*, std::size_t, void*);

cl_context CL_API_CALL create_context(const cl_context_properties* properties, cl_uint count,
                                      const cl_device_id* devices, ContextCallback callback,
                                      void* user_data, cl_int* code_ret) {
  const Subject subject =
      subject_of({devices, devices + (devices == nullptr ? 0 : count)}, ProgramOrigin::unknown);
  if (const auto rule = before(Call::create_context, subject)) {
    set_code(code_ret, *rule->code);
    return nullptr;
  }
  cl_int code = CL_SUCCESS;
  const cl_context context =
      next().clCreateContext(properties, count, devices, callback, user_data, &code);
  log_call(Call::create_context, subject, "passed", code);
  set_code(code_ret, code);
  return context;
}

// --- programs -----------------------------------------------------------------------------------

cl_program CL_API_CALL create_program_with_source(cl_context context, cl_uint count,
                                                  const char** texts, const std::size_t* lengths,
                                                  cl_int* code_ret) {
  const Subject subject = subject_of_context(context, ProgramOrigin::source);
  if (const auto rule = before(Call::create_program_with_source, subject)) {
    set_code(code_ret, *rule->code);
    return nullptr;
  }
  cl_int code = CL_SUCCESS;
  const cl_program program =
      next().clCreateProgramWithSource(context, count, texts, lengths, &code);
  layer().state.remember_origin(program, ProgramOrigin::source);
  log_call(Call::create_program_with_source, subject, "passed", code);
  set_code(code_ret, code);
  return program;
}

cl_program CL_API_CALL create_program_with_il(cl_context context, const void* il,
                                              std::size_t length, cl_int* code_ret) {
  const Subject subject = subject_of_context(context, ProgramOrigin::il);
  if (const auto rule = before(Call::create_program_with_il, subject)) {
    set_code(code_ret, *rule->code);
    return nullptr;
  }
  cl_int code = CL_SUCCESS;
  const cl_program program = next().clCreateProgramWithIL(context, il, length, &code);
  layer().state.remember_origin(program, ProgramOrigin::il);
  log_call(Call::create_program_with_il, subject, "passed", code);
  set_code(code_ret, code);
  return program;
}

struct BinaryRequest {
  cl_context context;
  cl_uint count;
  const cl_device_id* devices;
  const std::size_t* lengths;
  const unsigned char** binaries;
  cl_int* statuses;
};

cl_program create_for_real(const BinaryRequest& request, cl_int& code) {
  const cl_program program =
      next().clCreateProgramWithBinary(request.context, request.count, request.devices,
                                       request.lengths, request.binaries, request.statuses, &code);
  layer().state.remember_origin(program, ProgramOrigin::binary);
  return program;
}

void set_statuses(const BinaryRequest& request, cl_int status) {
  if (request.statuses != nullptr) {
    std::fill_n(request.statuses, request.count, status);
  }
}

cl_program refuse(const BinaryRequest& request, RefusalStyle style, cl_int refusal, cl_int& code) {
  code = refusal;
  switch (style) {
  case RefusalStyle::honest:
    set_statuses(request, refusal);
    return nullptr;
  case RefusalStyle::null_success:
    set_statuses(request, CL_SUCCESS);
    code = CL_SUCCESS;
    return nullptr;
  case RefusalStyle::status_success:
    set_statuses(request, CL_SUCCESS);
    return nullptr;
  case RefusalStyle::unwritten_status:
    return nullptr;
  case RefusalStyle::program_with_error:
  case RefusalStyle::last_status:
    break;
  }
  const cl_program program = create_for_real(request, code);
  if (program == nullptr) {
    return nullptr; // the driver has refused by itself
  }
  if (style == RefusalStyle::program_with_error) {
    set_statuses(request, refusal);
    code = refusal;
    return program;
  }
  set_statuses(request, CL_SUCCESS);
  if (request.statuses != nullptr) {
    request.statuses[0] = refusal;
  }
  code = request.count == 1 ? refusal : CL_SUCCESS;
  return program;
}

cl_program CL_API_CALL create_program_with_binary(cl_context context, cl_uint count,
                                                  const cl_device_id* devices,
                                                  const std::size_t* lengths,
                                                  const unsigned char** binaries, cl_int* statuses,
                                                  cl_int* code_ret) {
  const Subject subject =
      subject_of({devices, devices + (devices == nullptr ? 0 : count)}, ProgramOrigin::binary);
  if (const auto rule = before(Call::create_program_with_binary, subject)) {
    set_code(code_ret, *rule->code);
    return nullptr;
  }
  const BinaryRequest request{context, count, devices, lengths, binaries, statuses};
  const auto rule = layer().state.match(Fault::refuse, Call::create_program_with_binary, subject);
  cl_int code = CL_SUCCESS;
  const cl_program program = rule.has_value() ? refuse(request, *rule->style, *rule->code, code)
                                              : create_for_real(request, code);
  const std::string outcome =
      rule.has_value() ? fmt::format("refuse:{}", to_string(*rule->style)) : "passed";
  log_call(Call::create_program_with_binary, subject, outcome, code);
  set_code(code_ret, code);
  return program;
}

cl_int CL_API_CALL release_program(cl_program program) {
  const Subject subject = subject_of_program(program);
  (void)before(Call::release_program, subject);
  const cl_int code = next().clReleaseProgram(program);
  log_call(Call::release_program, subject, "passed", code);
  return code;
}

using ProgramCallback = void(CL_CALLBACK*)(cl_program, void*);

// What a build that the driver carries out is remembered by.
void note_build(Call call, const Subject& subject, cl_program program) {
  const auto log = layer().state.match(Fault::build_log, call, subject);
  layer().state.remember_build(program, std::nullopt, log.has_value() ? log->text : std::nullopt);
}

cl_int CL_API_CALL build_program(cl_program program, cl_uint count, const cl_device_id* devices,
                                 const char* options, ProgramCallback callback, void* user_data) {
  const Subject subject = subject_of_build(program, count, devices);
  if (const auto rule = before(Call::build_program, subject)) {
    layer().state.remember_build(program, rule->code, rule->text.value_or(std::string()));
    return *rule->code;
  }
  const cl_int code = next().clBuildProgram(program, count, devices, options, callback, user_data);
  note_build(Call::build_program, subject, program);
  log_call(Call::build_program, subject, "passed", code);
  return code;
}

cl_int CL_API_CALL compile_program(cl_program program, cl_uint count, const cl_device_id* devices,
                                   const char* options, cl_uint header_count,
                                   const cl_program* headers, const char** header_names,
                                   ProgramCallback callback, void* user_data) {
  const Subject subject = subject_of_build(program, count, devices);
  if (const auto rule = before(Call::compile_program, subject)) {
    layer().state.remember_build(program, rule->code, rule->text.value_or(std::string()));
    return *rule->code;
  }
  const cl_int code = next().clCompileProgram(program, count, devices, options, header_count,
                                              headers, header_names, callback, user_data);
  note_build(Call::compile_program, subject, program);
  log_call(Call::compile_program, subject, "passed", code);
  return code;
}

cl_program CL_API_CALL link_program(cl_context context, cl_uint count, const cl_device_id* devices,
                                    const char* options, cl_uint input_count,
                                    const cl_program* inputs, ProgramCallback callback,
                                    void* user_data, cl_int* code_ret) {
  const ProgramOrigin origin = input_count == 0 || inputs == nullptr
                                   ? ProgramOrigin::unknown
                                   : layer().state.origin_of(inputs[0]);
  const Subject subject = count == 0 || devices == nullptr
                              ? subject_of_context(context, origin)
                              : subject_of({devices, devices + count}, origin);
  if (const auto rule = before(Call::link_program, subject)) {
    set_code(code_ret, *rule->code);
    return nullptr;
  }
  cl_int code = CL_SUCCESS;
  const cl_program program = next().clLinkProgram(context, count, devices, options, input_count,
                                                  inputs, callback, user_data, &code);
  layer().state.remember_origin(program, origin);
  if (program != nullptr) {
    note_build(Call::link_program, subject, program);
  }
  log_call(Call::link_program, subject, "passed", code);
  set_code(code_ret, code);
  return program;
}

// --- what programs tell -------------------------------------------------------------------------

std::string without_kernel(const std::string& names, const std::string& lost) {
  std::string kept;
  std::size_t begin = 0;
  while (begin <= names.size() && !names.empty()) {
    const std::size_t end = std::min(names.find(';', begin), names.size());
    const std::string name = names.substr(begin, end - begin);
    if (name != lost) {
      kept += kept.empty() ? name : ";" + name;
    }
    begin = end + 1;
  }
  return kept;
}

std::string remaining_kernel_names(cl_program program, const std::vector<Rule>& lost) {
  std::string names = text_of([&](std::size_t size, void* value, std::size_t* size_ret) {
    return next().clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, size, value, size_ret);
  });
  for (const Rule& rule : lost) {
    names = without_kernel(names, *rule.kernel);
  }
  return names;
}

std::vector<std::size_t> real_binary_sizes(cl_program program) {
  return list_of<std::size_t>([&](std::size_t size, void* value, std::size_t* size_ret) {
    return next().clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, size, value, size_ret);
  });
}

cl_int give_cut_sizes(cl_program program, std::uint64_t most, std::size_t value_size, void* value,
                      std::size_t* size_ret) {
  std::vector<std::size_t> sizes = real_binary_sizes(program);
  for (std::size_t& size : sizes) {
    size = std::min<std::size_t>(size, most);
  }
  return give_bytes(sizes.data(), sizes.size() * sizeof(std::size_t), value_size, value, size_ret);
}

cl_int give_cut_binaries(cl_program program, std::uint64_t most, std::size_t value_size,
                         void* value, std::size_t* size_ret) {
  const std::vector<std::size_t> sizes = real_binary_sizes(program);
  const std::size_t needed = sizes.size() * sizeof(unsigned char*);
  if (size_ret != nullptr) {
    *size_ret = needed;
  }
  if (value == nullptr) {
    return CL_SUCCESS;
  }
  if (value_size < needed) {
    return CL_INVALID_VALUE;
  }
  std::vector<std::vector<unsigned char>> whole;
  std::vector<unsigned char*> places;
  for (const std::size_t size : sizes) {
    whole.emplace_back(size);
  }
  for (auto& binary : whole) {
    places.push_back(binary.data());
  }
  const cl_int code = next().clGetProgramInfo(program, CL_PROGRAM_BINARIES, needed,
                                              static_cast<void*>(places.data()), nullptr);
  auto* const outputs = static_cast<unsigned char**>(value);
  for (std::size_t i = 0; code == CL_SUCCESS && i < whole.size(); ++i) {
    if (outputs[i] != nullptr) {
      std::copy_n(whole[i].begin(), std::min<std::size_t>(whole[i].size(), most), outputs[i]);
    }
  }
  return code;
}

struct InfoRequest {
  cl_program program;
  cl_program_info name;
  std::size_t size;
  void* value;
  std::size_t* size_ret;
};

std::optional<cl_int> faulty_kernel_names(const InfoRequest& request, const Subject& subject) {
  if (request.name != CL_PROGRAM_KERNEL_NAMES && request.name != CL_PROGRAM_NUM_KERNELS) {
    return std::nullopt;
  }
  if (layer().state.match(Fault::hide_kernel_names, Call::get_program_info, subject)) {
    return CL_INVALID_VALUE;
  }
  const auto lost = layer().state.match_all(Fault::lose_kernel, Call::get_program_info, subject);
  if (lost.empty()) {
    return std::nullopt;
  }
  const std::string names = remaining_kernel_names(request.program, lost);
  if (request.name == CL_PROGRAM_KERNEL_NAMES) {
    return give_text(names, request.size, request.value, request.size_ret);
  }
  const std::size_t count =
      names.empty() ? 0 : 1 + static_cast<std::size_t>(std::count(names.begin(), names.end(), ';'));
  return give_bytes(&count, sizeof count, request.size, request.value, request.size_ret);
}

std::optional<cl_int> faulty_binary(const InfoRequest& request, const Subject& subject) {
  if (request.name != CL_PROGRAM_BINARY_SIZES && request.name != CL_PROGRAM_BINARIES) {
    return std::nullopt;
  }
  const auto rule = layer().state.match(Fault::cut_binary, Call::get_program_info, subject);
  if (!rule.has_value()) {
    return std::nullopt;
  }
  const auto give = request.name == CL_PROGRAM_BINARY_SIZES ? give_cut_sizes : give_cut_binaries;
  return give(request.program, *rule->bytes, request.size, request.value, request.size_ret);
}

cl_int CL_API_CALL get_program_info(cl_program program, cl_program_info name, std::size_t size,
                                    void* value, std::size_t* size_ret) {
  const Subject subject = subject_of_program(program);
  if (const auto rule = before(Call::get_program_info, subject)) {
    return *rule->code;
  }
  const InfoRequest request{program, name, size, value, size_ret};
  std::optional<cl_int> faulty = faulty_kernel_names(request, subject);
  if (!faulty.has_value()) {
    faulty = faulty_binary(request, subject);
  }
  const cl_int code =
      faulty.has_value() ? *faulty : next().clGetProgramInfo(program, name, size, value, size_ret);
  log_call(Call::get_program_info, subject,
           fmt::format("{} name={:#x}", faulty.has_value() ? "changed" : "passed", name), code);
  return code;
}

cl_int CL_API_CALL get_program_build_info(cl_program program, cl_device_id device,
                                          cl_program_build_info name, std::size_t size, void* value,
                                          std::size_t* size_ret) {
  const Subject subject = subject_of({device}, layer().state.origin_of(program));
  if (const auto rule = before(Call::get_program_build_info, subject)) {
    return *rule->code;
  }
  const auto log = layer().state.forced_build_log(program);
  if (name == CL_PROGRAM_BUILD_LOG && log.has_value()) {
    return give_text(*log, size, value, size_ret);
  }
  if (name == CL_PROGRAM_BUILD_STATUS && layer().state.forced_build_code(program).has_value()) {
    const cl_build_status status = CL_BUILD_ERROR;
    return give_bytes(&status, sizeof status, size, value, size_ret);
  }
  const cl_int code = next().clGetProgramBuildInfo(program, device, name, size, value, size_ret);
  log_call(Call::get_program_build_info, subject, "passed", code);
  return code;
}

// --- kernels ------------------------------------------------------------------------------------

bool is_lost(const Subject& subject, Call call, const char* name) {
  const auto lost = layer().state.match_all(Fault::lose_kernel, call, subject);
  return name != nullptr && std::any_of(lost.begin(), lost.end(),
                                        [name](const Rule& rule) { return *rule.kernel == name; });
}

cl_kernel CL_API_CALL create_kernel(cl_program program, const char* name, cl_int* code_ret) {
  const Subject subject = subject_of_program(program);
  if (const auto rule = before(Call::create_kernel, subject)) {
    set_code(code_ret, *rule->code);
    return nullptr;
  }
  if (is_lost(subject, Call::create_kernel, name)) {
    log_call(Call::create_kernel, subject, "lose-kernel", CL_INVALID_KERNEL_NAME);
    set_code(code_ret, CL_INVALID_KERNEL_NAME);
    return nullptr;
  }
  cl_int code = CL_SUCCESS;
  const cl_kernel kernel = next().clCreateKernel(program, name, &code);
  log_call(Call::create_kernel, subject, "passed", code);
  set_code(code_ret, code);
  return kernel;
}

// Creates all that are left, one by one.
cl_int create_remaining_kernels(cl_program program, const std::string& names, cl_uint room,
                                cl_kernel* kernels, cl_uint* count_ret) {
  std::vector<std::string> list;
  for (std::size_t begin = 0; begin < names.size();) {
    const std::size_t end = std::min(names.find(';', begin), names.size());
    list.push_back(names.substr(begin, end - begin));
    begin = end + 1;
  }
  if (kernels != nullptr && room < list.size()) {
    return CL_INVALID_VALUE;
  }
  for (std::size_t i = 0; kernels != nullptr && i < list.size(); ++i) {
    cl_int code = CL_SUCCESS;
    kernels[i] = next().clCreateKernel(program, list[i].c_str(), &code);
    if (code != CL_SUCCESS) {
      return code;
    }
  }
  if (count_ret != nullptr) {
    *count_ret = static_cast<cl_uint>(list.size());
  }
  return CL_SUCCESS;
}

cl_int CL_API_CALL create_kernels_in_program(cl_program program, cl_uint room, cl_kernel* kernels,
                                             cl_uint* count_ret) {
  const Subject subject = subject_of_program(program);
  if (const auto rule = before(Call::create_kernels_in_program, subject)) {
    return *rule->code;
  }
  const auto lost =
      layer().state.match_all(Fault::lose_kernel, Call::create_kernels_in_program, subject);
  const cl_int code = lost.empty()
                          ? next().clCreateKernelsInProgram(program, room, kernels, count_ret)
                          : create_remaining_kernels(program, remaining_kernel_names(program, lost),
                                                     room, kernels, count_ret);
  log_call(Call::create_kernels_in_program, subject, lost.empty() ? "passed" : "lose-kernel", code);
  return code;
}

Subject subject_of_launch(cl_command_queue queue, cl_kernel kernel) {
  cl_device_id device = nullptr;
  cl_program program = nullptr;
  (void)next().clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof device,
                                     static_cast<void*>(&device), nullptr);
  (void)next().clGetKernelInfo(kernel, CL_KERNEL_PROGRAM, sizeof program,
                               static_cast<void*>(&program), nullptr);
  return subject_of({device}, layer().state.origin_of(program));
}

cl_int CL_API_CALL enqueue_nd_range_kernel(cl_command_queue queue, cl_kernel kernel,
                                           cl_uint dimensions, const std::size_t* offset,
                                           const std::size_t* global, const std::size_t* local,
                                           cl_uint event_count, const cl_event* events,
                                           cl_event* event) {
  const Subject subject = subject_of_launch(queue, kernel);
  if (const auto rule = before(Call::enqueue_nd_range_kernel, subject)) {
    return *rule->code;
  }
  const cl_int code = next().clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global,
                                                    local, event_count, events, event);
  log_call(Call::enqueue_nd_range_kernel, subject, "passed", code);
  return code;
}

void fill_table(cl_icd_dispatch& table) {
  table.clGetPlatformIDs = get_platform_ids;
  table.clGetPlatformInfo = get_platform_info;
  table.clGetDeviceIDs = get_device_ids;
  table.clGetDeviceInfo = get_device_info;
  table.clCreateContext = create_context;
  table.clCreateProgramWithSource = create_program_with_source;
  table.clCreateProgramWithBinary = create_program_with_binary;
  table.clCreateProgramWithIL = create_program_with_il;
  table.clBuildProgram = build_program;
  table.clCompileProgram = compile_program;
  table.clLinkProgram = link_program;
  table.clReleaseProgram = release_program;
  table.clGetProgramInfo = get_program_info;
  table.clGetProgramBuildInfo = get_program_build_info;
  table.clCreateKernel = create_kernel;
  table.clCreateKernelsInProgram = create_kernels_in_program;
  table.clEnqueueNDRangeKernel = enqueue_nd_range_kernel;
}

} // namespace

} // namespace clbin::faults

CLBIN_LAYER_EXPORT CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info name,
                                                                  std::size_t size, void* value,
                                                                  std::size_t* size_ret) {
  if (name == CL_LAYER_API_VERSION) {
    const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
    return clbin::faults::give_bytes(&version, sizeof version, size, value, size_ret);
  }
  if (name == CL_LAYER_NAME) {
    return clbin::faults::give_text("clbin-faults", size, value, size_ret);
  }
  return CL_INVALID_VALUE;
}

CLBIN_LAYER_EXPORT CL_API_ENTRY cl_int CL_API_CALL
clInitLayer(cl_uint num_entries, const cl_icd_dispatch* target_dispatch, cl_uint* num_entries_ret,
            const cl_icd_dispatch** layer_dispatch_ret) {
  using clbin::faults::layer;
  constexpr cl_uint k_entries = sizeof(cl_icd_dispatch) / sizeof(void*);
  if (target_dispatch == nullptr || num_entries_ret == nullptr || layer_dispatch_ret == nullptr ||
      num_entries < k_entries) {
    return CL_INVALID_VALUE;
  }
  layer().next = target_dispatch;
  layer().table = *target_dispatch;
  clbin::faults::fill_table(layer().table);
  layer().state.load();
  *num_entries_ret = k_entries;
  *layer_dispatch_ret = &layer().table;
  return CL_SUCCESS;
}

// For tests: reads the scenario again, and counts calls from 1 again.
CLBIN_LAYER_EXPORT void clbin_faults_reload() {
  clbin::faults::layer().state.load();
}
