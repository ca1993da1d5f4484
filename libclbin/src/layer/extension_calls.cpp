// Functions that applications get by name. A driver's own pointer would bypass the layer.
#include "layer/layer.hpp"

namespace clbin::layer {
namespace {

constexpr const char* k_create_with_il = "clCreateProgramWithILKHR";
constexpr const char* k_variable_pointer = "clGetDeviceGlobalVariablePointerINTEL";
constexpr const char* k_function_pointer = "clGetDeviceFunctionPointerINTEL";
constexpr const char* k_read_variable = "clEnqueueReadGlobalVariableINTEL";
constexpr const char* k_write_variable = "clEnqueueWriteGlobalVariableINTEL";
constexpr std::string_view k_enqueue_commands = "clEnqueueCommandBufferKHR";

using CreateWithIl = cl_program(CL_API_CALL*)(cl_context, const void*, std::size_t, cl_int*);
// The extensions of Intel's drivers have no page in Khronos's registry: the parameters are those of
// github.com/intel/compute-runtime, opencl/extensions/public/cl_ext_private.h and
// opencl/source/api/api.h, and of github.com/intel/llvm, where they are called.
using VariablePointer = cl_int(CL_API_CALL*)(cl_device_id, cl_program, const char*, std::size_t*,
                                             void**);
using FunctionPointer = cl_int(CL_API_CALL*)(cl_device_id, cl_program, const char*, cl_ulong*);
using ReadVariable = cl_int(CL_API_CALL*)(cl_command_queue, cl_program, const char*, cl_bool,
                                          std::size_t, std::size_t, void*, cl_uint, const cl_event*,
                                          cl_event*);
using WriteVariable = cl_int(CL_API_CALL*)(cl_command_queue, cl_program, const char*, cl_bool,
                                           std::size_t, std::size_t, const void*, cl_uint,
                                           const cl_event*, cl_event*);

cl_platform_id platform_of(const Layer& layer, cl_device_id device) {
  cl_platform_id platform = nullptr;
  return layer.next().clGetDeviceInfo(device, CL_DEVICE_PLATFORM,
                                      sizeof(platform), // NOLINT(bugprone-sizeof-expression)
                                      static_cast<void*>(&platform), nullptr) == CL_SUCCESS
             ? platform
             : nullptr;
}

// The driver's function that the application asked for: for its platform, or for any.
template <typename Function>
Function driver_function(const Layer& layer, cl_device_id device, const char* name) {
  void* function = layer.extension(platform_of(layer, device), name);
  if (function == nullptr) {
    function = layer.extension(nullptr, name);
  }
  return reinterpret_cast<Function>(function);
}

cl_program CL_API_CALL create_program_with_il_khr(cl_context context, const void* il,
                                                  std::size_t length, cl_int* code) {
  const Layer& layer = active_layer();
  CreateWithIl create = nullptr;
  without_exceptions([&] {
    const auto devices = context_devices(layer.next(), context);
    create = driver_function<CreateWithIl>(layer, devices.empty() ? nullptr : devices.front(),
                                           k_create_with_il);
  });
  if (create == nullptr) {
    if (code != nullptr) {
      *code = CL_INVALID_CONTEXT;
    }
    return nullptr;
  }
  const cl_program program = create(context, il, length, code);
  track_il(program, context, il, length);
  return program;
}

cl_program built_program(cl_program program) {
  const ProgramView view = active_layer().programs().find(program);
  return view.has_program() ? view.substitute->program() : program;
}

cl_int CL_API_CALL get_variable_pointer(cl_device_id device, cl_program program, const char* name,
                                        std::size_t* size, void** pointer) {
  return guarded([&](Layer& layer) {
    const auto ask = driver_function<VariablePointer>(layer, device, k_variable_pointer);
    return ask == nullptr ? CL_INVALID_DEVICE
                          : ask(device, built_program(program), name, size, pointer);
  });
}

cl_int CL_API_CALL get_function_pointer(cl_device_id device, cl_program program, const char* name,
                                        cl_ulong* pointer) {
  return guarded([&](Layer& layer) {
    const auto ask = driver_function<FunctionPointer>(layer, device, k_function_pointer);
    return ask == nullptr ? CL_INVALID_DEVICE : ask(device, built_program(program), name, pointer);
  });
}

cl_int CL_API_CALL read_variable(cl_command_queue queue, cl_program program, const char* name,
                                 cl_bool blocking, std::size_t size, std::size_t offset,
                                 void* target, cl_uint wait_count, const cl_event* wait_list,
                                 cl_event* event) {
  return guarded([&](Layer& layer) {
    const auto ask =
        driver_function<ReadVariable>(layer, queue_device(layer.next(), queue), k_read_variable);
    return ask == nullptr ? CL_INVALID_COMMAND_QUEUE
                          : ask(queue, built_program(program), name, blocking, size, offset, target,
                                wait_count, wait_list, event);
  });
}

cl_int CL_API_CALL write_variable(cl_command_queue queue, cl_program program, const char* name,
                                  cl_bool blocking, std::size_t size, std::size_t offset,
                                  const void* source, cl_uint wait_count, const cl_event* wait_list,
                                  cl_event* event) {
  return guarded([&](Layer& layer) {
    const auto ask =
        driver_function<WriteVariable>(layer, queue_device(layer.next(), queue), k_write_variable);
    return ask == nullptr ? CL_INVALID_COMMAND_QUEUE
                          : ask(queue, built_program(program), name, blocking, size, offset, source,
                                wait_count, wait_list, event);
  });
}

void CL_API_CALL keep_nothing_of(cl_program program) {
  active_layer().programs().forget(program);
}

// The other modes store nothing, and `strict` must not let anything be built.
bool stores_programs(const Layer& layer) {
  return layer.settings().mode == Mode::cache || layer.settings().mode == Mode::record;
}

// Replaces extensions that take or return a program, and functions of the table that the layer
// intercepts, which some drivers hand out by their names as well. Null for all others.
void* replacement_of(std::string_view name) {
  const std::array<std::pair<std::string_view, void*>, 5> extensions{{
      {k_create_with_il, reinterpret_cast<void*>(create_program_with_il_khr)},
      {k_variable_pointer, reinterpret_cast<void*>(get_variable_pointer)},
      {k_function_pointer, reinterpret_cast<void*>(get_function_pointer)},
      {k_read_variable, reinterpret_cast<void*>(read_variable)},
      {k_write_variable, reinterpret_cast<void*>(write_variable)},
  }};
  for (const auto& [known, function] : extensions) {
    if (known == name) {
      return function;
    }
  }
  void* const own = function_of(active_layer().table(), name);
  return own == function_of(active_layer().next(), name) ? nullptr : own;
}

void* replaced(cl_platform_id platform, const char* name, void* function) {
  if (function == nullptr || name == nullptr) {
    return function;
  }
  void* result = function;
  if (name == k_enqueue_commands) {
    active_layer().builds().launches().begin(); // from now on, launches that nobody sees may run
  }
  without_exceptions([&] {
    void* const replacement = replacement_of(name);
    if (replacement != nullptr) {
      active_layer().set_extension(platform, name, function);
      result = replacement;
    }
  });
  return result;
}

void* CL_API_CALL get_extension_function(const char* name) {
  if (name != nullptr && name == std::string_view(opencl::k_keep_nothing_of) &&
      stores_programs(active_layer())) {
    return reinterpret_cast<void*>(keep_nothing_of);
  }
  return replaced(nullptr, name, active_layer().next().clGetExtensionFunctionAddress(name));
}

void* CL_API_CALL get_platform_extension_function(cl_platform_id platform, const char* name) {
  return replaced(platform, name,
                  active_layer().next().clGetExtensionFunctionAddressForPlatform(platform, name));
}

} // namespace

void add_extension_calls(cl_icd_dispatch& table) {
  intercept(table.clGetExtensionFunctionAddress, get_extension_function);
  intercept(table.clGetExtensionFunctionAddressForPlatform, get_platform_extension_function);
}

} // namespace clbin::layer
