#include "support/fake_driver.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstring>
#include <deque>
#include <fmt/core.h>
#include <mutex>
#include <optional>
#include <string_view>

using State = clbin::test::FakeDriver::State;

// OpenCL leaves these types to the implementation, so they are defined here. Every handle refers
// to its driver, so no global is needed.
struct _cl_platform_id {
  State* state = nullptr;
  std::string name;
  std::string version;
};

struct _cl_device_id {
  State* state = nullptr;
  cl_device_id parent = nullptr;
  cl_platform_id platform = nullptr;
  clbin::format::DeviceIdentity identity;
  std::map<cl_device_info, std::string> values;
  std::map<cl_device_info, cl_int> failures;
};

struct _cl_context {
  State* state = nullptr;
  std::vector<cl_device_id> devices;
};

struct _cl_program {
  State* state = nullptr;
  bool from_source = false;
  bool built = false;
  int references = 1;
  std::string options; // of the last build
  std::vector<cl_device_id> devices;
  clbin::test::BinaryScript script; // of a binary, or derived from the source script
};

struct _cl_kernel {
  State* state = nullptr;
  std::string name;
};

// Objects of launches.
struct _cl_command_queue {
  State* state = nullptr;
};
struct _cl_event {
  State* state = nullptr;
};
struct _cl_mem {
  State* state = nullptr;
  clbin::base::Bytes bytes{};
};

namespace clbin::test {

struct FakeDriver::State {
  opencl::Driver functions;
  std::deque<_cl_platform_id> platforms;
  std::deque<_cl_device_id> devices;
  std::deque<_cl_context> contexts;
  std::map<std::string, BinaryScript> binaries;
  TogetherAnswer together = TogetherAnswer::accept;
  SourceScript source;
  void note(std::string call) {
    const std::lock_guard lock(mutex);
    calls.push_back(std::move(call));
  }

  void keep_source(std::string text) {
    const std::lock_guard lock(mutex);
    sources.push_back(std::move(text));
  }

  std::mutex mutex;
  std::vector<std::string> calls; // recorded by note()
  std::vector<std::string> sources;
  std::atomic<int> live_programs{0};
  std::atomic<int> live_kernels{0};
  std::atomic<int> live_launch_objects{0};
};

namespace {

#ifdef SIGKILL
constexpr int k_end_at_once = SIGKILL;
#else
constexpr int k_end_at_once = SIGTERM; // on Windows, raise() then ends the process
#endif

void set_code(cl_int* where, cl_int code) {
  if (where != nullptr) {
    *where = code;
  }
}

// Answers every clGet…Info function.
cl_int give(std::string_view value, std::size_t size, void* where, std::size_t* size_out) {
  if (size_out != nullptr) {
    *size_out = value.size();
  }
  if (where == nullptr) {
    return CL_SUCCESS;
  }
  if (size < value.size()) {
    return CL_INVALID_VALUE;
  }
  std::memcpy(where, value.data(), value.size());
  return CL_SUCCESS;
}

template <typename T>
std::string answer_of(const T& value) {
  std::string bytes(sizeof(value), '\0');
  std::memcpy(bytes.data(), &value, sizeof(value));
  return bytes;
}

template <typename T>
std::string answer_of_all(const std::vector<T>& values) {
  std::string bytes;
  for (const T& value : values) {
    bytes += answer_of(value);
  }
  return bytes;
}

std::string c_text(const std::string& text) {
  return text + '\0';
}

std::string joined(const std::vector<std::string>& words, char separator) {
  std::string text;
  for (const std::string& word : words) {
    text += text.empty() ? "" : std::string(1, separator);
    text += word;
  }
  return text;
}

cl_int CL_API_CALL get_platform_ids(cl_uint, cl_platform_id*, cl_uint* count) {
  // Without a handle there is no driver to query. Tests get devices from add_device.
  if (count != nullptr) {
    *count = 0;
  }
  return -1001;
}

cl_int CL_API_CALL get_platform_info(cl_platform_id platform, cl_platform_info name,
                                     std::size_t size, void* value, std::size_t* size_out) {
  switch (name) {
  case CL_PLATFORM_NAME:
    return give(c_text(platform->name), size, value, size_out);
  case CL_PLATFORM_VERSION:
    return give(c_text(platform->version), size, value, size_out);
  default:
    return CL_INVALID_VALUE;
  }
}

cl_int CL_API_CALL get_device_ids(cl_platform_id platform, cl_device_type, cl_uint capacity,
                                  cl_device_id* devices, cl_uint* count) {
  std::vector<cl_device_id> found;
  for (_cl_device_id& device : platform->state->devices) {
    if (device.platform == platform && device.parent == nullptr) {
      found.push_back(&device);
    }
  }
  if (count != nullptr) {
    *count = static_cast<cl_uint>(found.size());
  }
  const std::size_t copied = devices == nullptr ? 0 : std::min<std::size_t>(capacity, found.size());
  std::copy_n(found.begin(), copied, devices);
  return found.empty() ? CL_DEVICE_NOT_FOUND : CL_SUCCESS;
}

// Returns std::nullopt for a value that the device does not know.
std::optional<std::string> nvidia_value(cl_device_id device, cl_device_info name) {
  constexpr std::string_view k_prefix = "sm_";
  const std::string& architecture = device->identity.architecture;
  if (!architecture.starts_with(k_prefix) || architecture.size() < k_prefix.size() + 2) {
    return std::nullopt;
  }
  const int number = std::stoi(architecture.substr(k_prefix.size()));
  return answer_of(static_cast<cl_uint>(name == 0x4000 ? number / 10 : number % 10));
}

std::optional<std::string> device_value(cl_device_id device, cl_device_info name) {
  const format::DeviceIdentity& identity = device->identity;
  switch (name) {
  case CL_DEVICE_NAME:
    return c_text(identity.device_name);
  case CL_DEVICE_VENDOR:
    return c_text(identity.vendor);
  case CL_DRIVER_VERSION:
    return c_text(identity.driver_version);
  case CL_DEVICE_VERSION:
    return c_text(identity.device_version);
  case CL_DEVICE_VENDOR_ID:
    return answer_of(static_cast<cl_uint>(identity.vendor_id));
  case CL_DEVICE_ADDRESS_BITS:
    return answer_of(static_cast<cl_uint>(identity.address_bits));
  case CL_DEVICE_IL_VERSION:
    return c_text(joined(identity.il_versions, ' '));
  case CL_DEVICE_OPENCL_C_VERSION:
    return c_text(joined(identity.opencl_c_versions, ' '));
  case CL_DEVICE_PLATFORM:
    return answer_of(device->platform);
  case CL_DEVICE_PARENT_DEVICE:
    return answer_of(device->parent);
  case 0x4000:
  case 0x4001:
    return nvidia_value(device, name);
  default:
    return std::nullopt;
  }
}

cl_int CL_API_CALL get_device_info(cl_device_id device, cl_device_info name, std::size_t size,
                                   void* value, std::size_t* size_out) {
  if (const auto failure = device->failures.find(name); failure != device->failures.end()) {
    return failure->second;
  }
  if (const auto scripted = device->values.find(name); scripted != device->values.end()) {
    return give(scripted->second, size, value, size_out);
  }
  const std::optional<std::string> known = device_value(device, name);
  return known.has_value() ? give(*known, size, value, size_out) : CL_INVALID_VALUE;
}

cl_context CL_API_CALL create_context(
    const cl_context_properties*, cl_uint count, const cl_device_id* devices,
    void(CL_CALLBACK*)(const char*, const void*, std::size_t, void*), void*, cl_int* code) {
  State* const state = devices[0]->state;
  state->contexts.push_back({state, {devices, devices + count}});
  set_code(code, CL_SUCCESS);
  return &state->contexts.back();
}

cl_int CL_API_CALL release_context(cl_context) {
  return CL_SUCCESS;
}

cl_int CL_API_CALL get_context_info(cl_context context, cl_context_info name, std::size_t size,
                                    void* value, std::size_t* size_out) {
  if (name != CL_CONTEXT_DEVICES) {
    return CL_INVALID_VALUE;
  }
  const auto& devices = context->devices;
  const std::string_view bytes(reinterpret_cast<const char*>(devices.data()),
                               devices.size() * sizeof(cl_device_id));
  return give(bytes, size, value, size_out);
}

cl_program new_program(State* state, std::vector<cl_device_id> devices) {
  ++state->live_programs;
  auto* const program = new _cl_program;
  program->state = state;
  program->devices = std::move(devices);
  return program;
}

cl_program CL_API_CALL create_with_source(cl_context context, cl_uint count, const char** texts,
                                          const std::size_t* sizes, cl_int* code) {
  context->state->note("create_source");
  std::string whole;
  for (cl_uint i = 0; i < count; ++i) {
    whole += std::string(texts[i], sizes[i]);
  }
  context->state->keep_source(std::move(whole));
  cl_program program = new_program(context->state, context->devices);
  program->from_source = true;
  program->script.kernels = context->state->source.kernels;
  program->script.log = context->state->source.log;
  set_code(code, CL_SUCCESS);
  return program;
}

BinaryScript script_of(const State& state, const std::string& binary) {
  const auto found = state.binaries.find(binary);
  return found == state.binaries.end() ? BinaryScript{BinaryAnswer::refuse, {}, {}, CL_SUCCESS}
                                       : found->second;
}

cl_program create_alone(cl_context context, cl_device_id device, const BinaryScript& script,
                        cl_int* status, cl_int* code) {
  const auto make = [&] {
    cl_program program = new_program(context->state, {device});
    program->script = script;
    return program;
  };
  set_code(code, CL_SUCCESS);
  set_code(status, CL_SUCCESS);
  switch (script.answer) {
  case BinaryAnswer::refuse:
    set_code(code, CL_INVALID_BINARY);
    set_code(status, CL_INVALID_BINARY);
    return nullptr;
  case BinaryAnswer::refuse_with_program:
    set_code(code, CL_INVALID_BINARY);
    set_code(status, CL_INVALID_BINARY);
    return make();
  case BinaryAnswer::refuse_with_status_success:
    set_code(code, CL_INVALID_BINARY);
    return nullptr;
  case BinaryAnswer::refuse_by_status_only:
    set_code(status, CL_INVALID_BINARY);
    return make();
  case BinaryAnswer::refuse_without_error:
    return nullptr;
  case BinaryAnswer::kill_process:
    (void)std::raise(k_end_at_once);
    return nullptr;
  default:
    return make();
  }
}

// Creates a program for several devices as scripted, with the kernels of the first binary.
cl_program create_together(cl_context context, std::vector<cl_device_id> devices,
                           const std::string& first_binary, cl_int* code) {
  State* const state = context->state;
  if (state->together == TogetherAnswer::refuse_at_create) {
    set_code(code, CL_INVALID_VALUE);
    return nullptr;
  }
  if (state->together == TogetherAnswer::kill_process) {
    (void)std::raise(k_end_at_once);
  }
  cl_program program = new_program(state, std::move(devices));
  program->script = script_of(*state, first_binary);
  if (state->together == TogetherAnswer::refuse_at_build) {
    program->script.answer = BinaryAnswer::refuse_at_build;
  }
  set_code(code, CL_SUCCESS);
  return program;
}

cl_program CL_API_CALL create_with_binary(cl_context context, cl_uint count,
                                          const cl_device_id* devices, const std::size_t* lengths,
                                          const unsigned char** binaries, cl_int* statuses,
                                          cl_int* code) {
  std::vector<std::string> given;
  for (cl_uint i = 0; i < count; ++i) {
    given.emplace_back(reinterpret_cast<const char*>(binaries[i]), lengths[i]);
  }
  context->state->note("create_binary " + joined(given, '+'));
  if (count == 1) {
    return create_alone(context, devices[0], script_of(*context->state, given[0]), statuses, code);
  }
  return create_together(context, {devices, devices + count}, given[0], code);
}

cl_program CL_API_CALL create_with_il(cl_context context, const void* il, std::size_t size,
                                      cl_int* code) {
  const std::string given(static_cast<const char*>(il), size);
  context->state->note(fmt::format("create_il of {} bytes", size));
  cl_int status = CL_SUCCESS;
  return create_alone(context, context->devices.front(), script_of(*context->state, given), &status,
                      code);
}

cl_int CL_API_CALL set_constant(cl_program program, cl_uint id, std::size_t size,
                                const void* value) {
  std::string hexadecimal;
  for (std::size_t i = 0; i < size; ++i) {
    hexadecimal += fmt::format("{:02x}", static_cast<const unsigned char*>(value)[i]);
  }
  program->state->note(fmt::format("set_constant {} {}", id, hexadecimal));
  return id == FakeDriver::k_unknown_constant ? CL_INVALID_SPEC_ID : CL_SUCCESS;
}

cl_int build(cl_program program) {
  if (program->from_source) {
    program->built = program->state->source.code == CL_SUCCESS;
    return program->state->source.code;
  }
  program->built = program->script.answer != BinaryAnswer::refuse_at_build;
  return program->built ? CL_SUCCESS : program->script.build_code;
}

cl_int CL_API_CALL build_program(cl_program program, cl_uint, const cl_device_id*,
                                 const char* options, void(CL_CALLBACK*)(cl_program, void*),
                                 void*) {
  program->state->note(fmt::format("build {}", options));
  program->options = options;
  return build(program);
}

cl_int CL_API_CALL compile_program(cl_program program, cl_uint, const cl_device_id*,
                                   const char* options, cl_uint header_count, const cl_program*,
                                   const char** names, void(CL_CALLBACK*)(cl_program, void*),
                                   void*) {
  const std::vector<std::string> headers(names, names + header_count);
  program->state->note(fmt::format("compile {} with {}", options, joined(headers, ',')));
  return build(program);
}

cl_program CL_API_CALL link_program(cl_context context, cl_uint count, const cl_device_id* devices,
                                    const char* options, cl_uint, const cl_program* inputs,
                                    void(CL_CALLBACK*)(cl_program, void*), void*, cl_int* code) {
  context->state->note(fmt::format("link {}", options));
  cl_program program = new_program(context->state, {devices, devices + count});
  program->built = true;
  program->script.kernels = inputs[0]->script.kernels;
  set_code(code, CL_SUCCESS);
  return program;
}

// Returns one binary per device.
std::vector<std::string> binaries_of(cl_program program) {
  const SourceScript& source = program->state->source;
  std::vector<std::string> binaries(program->devices.size(), source.binary);
  std::copy_n(source.more_binaries.begin(),
              std::min(source.more_binaries.size(), binaries.size() - 1), binaries.begin() + 1);
  return binaries;
}

cl_int CL_API_CALL get_program_info(cl_program program, cl_program_info name, std::size_t size,
                                    void* value, std::size_t* size_out) {
  const BinaryAnswer answer = program->script.answer;
  switch (name) {
  case CL_PROGRAM_NUM_DEVICES:
    return give(answer_of(static_cast<cl_uint>(program->devices.size())), size, value, size_out);
  case CL_PROGRAM_KERNEL_NAMES:
    if (!program->built || answer == BinaryAnswer::hide_kernel_names ||
        answer == BinaryAnswer::hide_kernel_names_and_kernels) {
      return CL_INVALID_PROGRAM_EXECUTABLE;
    }
    return give(c_text(answer == BinaryAnswer::lose_kernels ? std::string()
                                                            : joined(program->script.kernels, ';')),
                size, value, size_out);
  case CL_PROGRAM_DEVICES:
    return give(answer_of_all(program->devices), size, value, size_out);
  case CL_PROGRAM_BINARY_SIZES: {
    std::vector<std::size_t> sizes;
    for (const std::string& binary : binaries_of(program)) {
      sizes.push_back(binary.size());
    }
    return give(answer_of_all(sizes), size, value, size_out);
  }
  case CL_PROGRAM_BINARIES: {
    program->state->note("get_binary");
    auto** pointer = static_cast<unsigned char**>(value);
    for (const std::string& binary : binaries_of(program)) {
      std::memcpy(*pointer++, binary.data(), binary.size());
    }
    return CL_SUCCESS;
  }
  default:
    return CL_INVALID_VALUE;
  }
}

cl_int CL_API_CALL get_program_build_info(cl_program program, cl_device_id,
                                          cl_program_build_info name, std::size_t size, void* value,
                                          std::size_t* size_out) {
  if (name == CL_PROGRAM_BUILD_OPTIONS) {
    return give(c_text(program->options), size, value, size_out);
  }
  return name == CL_PROGRAM_BUILD_LOG ? give(c_text(program->script.log), size, value, size_out)
                                      : CL_INVALID_VALUE;
}

cl_int CL_API_CALL retain_program(cl_program program) {
  ++program->references;
  return CL_SUCCESS;
}

cl_int CL_API_CALL release_program(cl_program program) {
  if (--program->references == 0) {
    --program->state->live_programs;
    delete program;
  }
  return CL_SUCCESS;
}

cl_kernel CL_API_CALL create_kernel(cl_program program, const char* name, cl_int* code) {
  program->state->note(fmt::format("create_kernel {}", name));
  const auto& kernels = program->script.kernels;
  if (program->script.answer == BinaryAnswer::hide_kernel_names_and_kernels ||
      program->script.answer == BinaryAnswer::refuse_at_kernel ||
      std::find(kernels.begin(), kernels.end(), name) == kernels.end()) {
    set_code(code, CL_INVALID_KERNEL_NAME);
    return nullptr;
  }
  ++program->state->live_kernels;
  set_code(code, CL_SUCCESS);
  return new _cl_kernel{program->state, name};
}

cl_int CL_API_CALL release_kernel(cl_kernel kernel) {
  --kernel->state->live_kernels;
  delete kernel;
  return CL_SUCCESS;
}

cl_int CL_API_CALL get_kernel_info(cl_kernel kernel, cl_kernel_info name, std::size_t size,
                                   void* value, std::size_t* size_out) {
  return name == CL_KERNEL_FUNCTION_NAME ? give(c_text(kernel->name), size, value, size_out)
                                         : CL_INVALID_VALUE;
}

// Kernels whose names begin with "sized" have a required work-group size.
cl_int CL_API_CALL get_kernel_work_group_info(cl_kernel kernel, cl_device_id,
                                              cl_kernel_work_group_info name, std::size_t size,
                                              void* value, std::size_t* size_out) {
  static constexpr std::array<std::size_t, 3> k_required{16, 1, 1};
  if (name != CL_KERNEL_COMPILE_WORK_GROUP_SIZE || !kernel->name.starts_with("sized")) {
    return CL_INVALID_VALUE;
  }
  return give({reinterpret_cast<const char*>(k_required.data()), sizeof(k_required)}, size, value,
              size_out);
}

// ---- Launches, which change no buffer -----------------------------------------------------------

template <typename Object, typename... Members>
auto* make_object(State* state, Members... members) {
  ++state->live_launch_objects;
  return new std::remove_pointer_t<Object>{state, std::move(members)...};
}

template <typename Object>
cl_int CL_API_CALL release_object(Object object) {
  --object->state->live_launch_objects;
  delete object;
  return CL_SUCCESS;
}

cl_command_queue CL_API_CALL create_queue(cl_context context, cl_device_id /*device*/,
                                          cl_command_queue_properties /*wanted*/, cl_int* code) {
  set_code(code, CL_SUCCESS);
  return make_object<cl_command_queue>(context->state);
}

cl_mem CL_API_CALL create_buffer(cl_context context, cl_mem_flags /*flags*/, std::size_t size,
                                 void* /*memory*/, cl_int* code) {
  set_code(code, CL_SUCCESS);
  return make_object<cl_mem>(context->state, base::Bytes(size));
}

cl_int CL_API_CALL set_kernel_argument(cl_kernel /*kernel*/, cl_uint /*index*/,
                                       std::size_t /*size*/, const void* /*value*/) {
  return CL_SUCCESS;
}

cl_int CL_API_CALL write_buffer(cl_command_queue /*queue*/, cl_mem buffer, cl_bool /*waits*/,
                                std::size_t offset, std::size_t size, const void* from,
                                cl_uint /*count*/, const cl_event* /*waited*/,
                                cl_event* /*event*/) {
  std::memcpy(buffer->bytes.data() + offset, from, size);
  return CL_SUCCESS;
}

cl_int CL_API_CALL read_buffer(cl_command_queue /*queue*/, cl_mem buffer, cl_bool /*waits*/,
                               std::size_t offset, std::size_t size, void* to, cl_uint /*count*/,
                               const cl_event* /*waited*/, cl_event* /*event*/) {
  std::memcpy(to, buffer->bytes.data() + offset, size);
  return CL_SUCCESS;
}

cl_int CL_API_CALL launch(cl_command_queue queue, cl_kernel kernel, cl_uint /*dimensions*/,
                          const std::size_t* /*offset*/, const std::size_t* /*global*/,
                          const std::size_t* /*local*/, cl_uint /*count*/,
                          const cl_event* /*waited*/, cl_event* event) {
  queue->state->note("launch " + kernel->name);
  *event = make_object<cl_event>(queue->state);
  return CL_SUCCESS;
}

cl_int CL_API_CALL finish(cl_command_queue /*queue*/) {
  return CL_SUCCESS;
}

cl_int CL_API_CALL wait_for_events(cl_uint /*count*/, const cl_event* /*events*/) {
  return CL_SUCCESS;
}

cl_int CL_API_CALL get_event_info(cl_event /*event*/, cl_event_info /*name*/, std::size_t size,
                                  void* value, std::size_t* size_out) {
  return give(answer_of(cl_int{CL_COMPLETE}), size, value, size_out);
}

cl_int CL_API_CALL get_event_profiling_info(cl_event /*event*/, cl_profiling_info /*name*/,
                                            std::size_t /*size*/, void* /*value*/,
                                            std::size_t* /*size_out*/) {
  return CL_PROFILING_INFO_NOT_AVAILABLE;
}

struct NamedFunction {
  std::string_view name;
  void* address;
};

std::vector<NamedFunction> named_functions(const opencl::Driver& table) {
  const auto address = [](auto function) { return reinterpret_cast<void*>(function); };
  return {
#define CLBIN_NAME(name, use, need) {"cl" #name, address(table.name)},
      CLBIN_DRIVER_FUNCTIONS(CLBIN_NAME)
#undef CLBIN_NAME
          {"clCreateCommandQueue", address(table.CreateCommandQueue)},
  };
}

opencl::Driver fake_functions() {
  opencl::Driver table;
  table.GetPlatformIDs = get_platform_ids;
  table.GetPlatformInfo = get_platform_info;
  table.GetDeviceIDs = get_device_ids;
  table.GetDeviceInfo = get_device_info;
  table.CreateContext = create_context;
  table.ReleaseContext = release_context;
  table.GetContextInfo = get_context_info;
  table.CreateProgramWithSource = create_with_source;
  table.CreateProgramWithBinary = create_with_binary;
  table.BuildProgram = build_program;
  table.CompileProgram = compile_program;
  table.LinkProgram = link_program;
  table.CreateProgramWithIL = create_with_il;
  table.SetProgramSpecializationConstant = set_constant;
  table.GetProgramInfo = get_program_info;
  table.GetProgramBuildInfo = get_program_build_info;
  table.RetainProgram = retain_program;
  table.ReleaseProgram = release_program;
  table.CreateKernel = create_kernel;
  table.ReleaseKernel = release_kernel;
  table.GetKernelInfo = get_kernel_info;
  table.GetKernelWorkGroupInfo = get_kernel_work_group_info;
  table.CreateCommandQueue = create_queue;
  table.ReleaseCommandQueue = release_object<cl_command_queue>;
  table.CreateBuffer = create_buffer;
  table.ReleaseMemObject = release_object<cl_mem>;
  table.SetKernelArg = set_kernel_argument;
  table.EnqueueWriteBuffer = write_buffer;
  table.EnqueueReadBuffer = read_buffer;
  table.EnqueueNDRangeKernel = launch;
  table.Finish = finish;
  table.WaitForEvents = wait_for_events;
  table.GetEventInfo = get_event_info;
  table.GetEventProfilingInfo = get_event_profiling_info;
  table.ReleaseEvent = release_object<cl_event>;
  return table;
}

} // namespace

FakeDriver::FakeDriver() : m_state(std::make_unique<State>()) {
  m_state->functions = fake_functions();
}

FakeDriver::~FakeDriver() = default;

cl_device_id FakeDriver::add_device(const format::DeviceIdentity& identity) {
  const auto found = std::find_if(m_state->platforms.begin(), m_state->platforms.end(),
                                  [&](const _cl_platform_id& platform) {
                                    return platform.name == identity.platform_name &&
                                           platform.version == identity.platform_version;
                                  });
  cl_platform_id platform = nullptr;
  if (found != m_state->platforms.end()) {
    platform = &*found;
  } else {
    platform = &m_state->platforms.emplace_back(
        _cl_platform_id{m_state.get(), identity.platform_name, identity.platform_version});
  }
  m_state->devices.push_back({m_state.get(), nullptr, platform, identity, {}, {}});
  return &m_state->devices.back();
}

cl_device_id FakeDriver::add_sub_device(cl_device_id parent) {
  format::DeviceIdentity identity = parent->identity;
  identity.device_name += " (a part)";
  m_state->devices.push_back({m_state.get(), parent, parent->platform, identity, {}, {}});
  return &m_state->devices.back();
}

cl_context FakeDriver::add_context(const std::vector<cl_device_id>& devices) {
  const std::lock_guard lock(m_state->mutex);
  m_state->contexts.push_back({m_state.get(), devices});
  return &m_state->contexts.back();
}

void FakeDriver::script_binary(const std::string& binary, BinaryScript script) {
  m_state->binaries[binary] = std::move(script);
}

void FakeDriver::script_together(TogetherAnswer answer) {
  m_state->together = answer;
}

void FakeDriver::script_source(SourceScript script) {
  m_state->source = std::move(script);
}

void FakeDriver::script_device_value(cl_device_id device, cl_device_info name, std::string bytes) {
  device->values[name] = std::move(bytes);
}

void FakeDriver::script_device_failure(cl_device_id device, cl_device_info name, cl_int code) {
  device->failures[name] = code;
}

const opencl::Driver& FakeDriver::functions() const {
  return m_state->functions;
}

void* FakeDriver::resolve(const char* name, void* user_data) {
  const auto* const driver = static_cast<const FakeDriver*>(user_data);
  for (const NamedFunction& function : named_functions(driver->functions())) {
    if (function.name == name) {
      return function.address;
    }
  }
  return nullptr;
}

const std::vector<std::string>& FakeDriver::calls() const {
  return m_state->calls;
}
const std::vector<std::string>& FakeDriver::sources() const {
  return m_state->sources;
}
void FakeDriver::forget_calls() {
  m_state->calls.clear();
}
int FakeDriver::live_programs() const {
  return m_state->live_programs;
}
int FakeDriver::live_kernels() const {
  return m_state->live_kernels;
}
int FakeDriver::live_launch_objects() const {
  return m_state->live_launch_objects;
}

} // namespace clbin::test
