// Functions that applications get by name. A driver's own pointer would bypass the layer.
#include "layer/layer.hpp"

namespace clbin::layer {
namespace {

constexpr char k_create_with_il[] = "clCreateProgramWithILKHR";
constexpr char k_variable_pointer[] = "clGetDeviceGlobalVariablePointerINTEL";
constexpr char k_function_pointer[] = "clGetDeviceFunctionPointerINTEL";
constexpr char k_read_variable[] = "clEnqueueReadGlobalVariableINTEL";
constexpr char k_write_variable[] = "clEnqueueWriteGlobalVariableINTEL";
constexpr std::string_view k_enqueue_commands = "clEnqueueCommandBufferKHR";
constexpr char k_set_pointer[] = "clSetKernelArgMemPointerINTEL";

using CreateWithIl = cl_program(CL_API_CALL*)(cl_context, const void*, std::size_t, cl_int*);

// The driver's function that the application asked for: for its platform, or for any.
template <typename Function>
Function driver_function(Layer& layer, cl_device_id device, const char* name) {
  const auto platform = opencl::device_platform(layer.driver, device).value_or(nullptr);
  const std::scoped_lock lock(layer.extensions_mutex);
  auto found = layer.extensions.find({platform, name});
  if (found == layer.extensions.end()) {
    found = layer.extensions.find({nullptr, name});
  }
  return found == layer.extensions.end() ? nullptr : reinterpret_cast<Function>(found->second);
}

cl_program CL_API_CALL create_program_with_il_khr(cl_context context, const void* il,
                                                  std::size_t length, cl_int* code) {
  Layer& layer = active_layer();
  CreateWithIl create = nullptr;
  without_exceptions([&] {
    const auto devices = context_devices(layer.next, context);
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

cl_device_id device_of(const Layer& /*unused*/, cl_device_id device) {
  return device;
}
cl_device_id device_of(const Layer& layer, cl_command_queue queue) {
  return queue_device(layer.next, queue);
}

// For functions of extensions whose second parameter is a program: passes the built one on.
template <const auto& Name, cl_int Missing, typename Object, typename... Rest>
cl_int CL_API_CALL with_built_program(Object object, cl_program program, Rest... rest) {
  return guarded([&](Layer& layer) {
    const auto function = driver_function<cl_int(CL_API_CALL*)(Object, cl_program, Rest...)>(
        layer, device_of(layer, object), Name);
    return function == nullptr
               ? Missing
               : function(object, layer.programs.find(program).built(program), rest...);
  });
}

// The extensions of Intel's drivers have no page in Khronos's registry: the parameters are those of
// github.com/intel/compute-runtime, opencl/extensions/public/cl_ext_private.h and
// opencl/source/api/api.h, and of github.com/intel/llvm, where they are called.
template <const auto& Name, typename... Rest>
void* of_device() {
  return reinterpret_cast<void*>(
      with_built_program<Name, CL_INVALID_DEVICE, cl_device_id, const char*, Rest...>);
}
template <const auto& Name, typename Data>
void* of_queue() {
  return reinterpret_cast<void*>(
      with_built_program<Name, CL_INVALID_COMMAND_QUEUE, cl_command_queue, const char*, cl_bool,
                         std::size_t, std::size_t, Data*, cl_uint, const cl_event*, cl_event*>);
}

// The pointer of unified memory replaces a buffer, of which the layer would read what is left.
cl_int CL_API_CALL set_pointer_argument(cl_kernel kernel, cl_uint index, const void* value) {
  return guarded([&](Layer& layer) {
    cl_context context = nullptr;
    (void)layer.next.clGetKernelInfo(kernel, CL_KERNEL_CONTEXT,
                                     sizeof(context), // NOLINT(bugprone-sizeof-expression)
                                     static_cast<void*>(&context), nullptr);
    const auto devices = context_devices(layer.next, context);
    const auto set = driver_function<cl_int(CL_API_CALL*)(cl_kernel, cl_uint, const void*)>(
        layer, devices.empty() ? nullptr : devices.front(), k_set_pointer);
    if (layer.data != nullptr) {
      layer.data->set_unknown_memory(kernel);
    }
    return set == nullptr ? CL_INVALID_KERNEL : set(kernel, index, value);
  });
}

void CL_API_CALL keep_nothing_of(cl_program program) {
  active_layer().programs.forget(program);
}

void CL_API_CALL label_program(cl_program program, const char* label) {
  if (label != nullptr) {
    without_exceptions([&] {
      active_layer().programs.change(program, [&](TrackedProgram& known) { known.label = label; });
    });
  }
}

// Replaces extensions that take or return a program, and functions of the table that the layer
// intercepts, which some drivers hand out by their names as well. Null for all others.
void* replacement_of(std::string_view name) {
  const std::array<std::pair<std::string_view, void*>, 6> extensions{{
      {k_create_with_il, reinterpret_cast<void*>(create_program_with_il_khr)},
      {k_variable_pointer, of_device<k_variable_pointer, std::size_t*, void**>()},
      {k_function_pointer, of_device<k_function_pointer, cl_ulong*>()},
      {k_read_variable, of_queue<k_read_variable, void>()},
      {k_write_variable, of_queue<k_write_variable, const void>()},
      {k_set_pointer, reinterpret_cast<void*>(set_pointer_argument)},
  }};
  for (const auto& [known, function] : extensions) {
    if (known == name) {
      return function;
    }
  }
  void* const own = function_of(active_layer().table, name);
  return own == function_of(active_layer().next, name) ? nullptr : own;
}

void* replaced(cl_platform_id platform, const char* name, void* function) {
  if (function == nullptr || name == nullptr) {
    return function;
  }
  void* result = function;
  if (name == k_enqueue_commands) {
    active_layer().launches.begin(); // from now on, launches that nobody sees may run
  }
  without_exceptions([&] {
    void* const replacement = replacement_of(name);
    if (replacement != nullptr) {
      const std::scoped_lock lock(active_layer().extensions_mutex);
      active_layer().extensions.insert_or_assign({platform, name}, function);
      result = replacement;
    }
  });
  return result;
}

void* CL_API_CALL get_extension_function(const char* name) {
  const Mode mode = active_layer().settings.mode;
  const std::string_view wanted = name == nullptr ? "" : name;
  // The other modes store nothing, and `strict` must not let anything be built.
  if (wanted == opencl::k_keep_nothing_of && (mode == Mode::cache || mode == Mode::record)) {
    return reinterpret_cast<void*>(keep_nothing_of);
  }
  if (wanted == opencl::k_label_program) {
    return mode == Mode::record ? reinterpret_cast<void*>(label_program) : nullptr;
  }
  return replaced(nullptr, name, active_layer().next.clGetExtensionFunctionAddress(name));
}

void* CL_API_CALL get_platform_extension_function(cl_platform_id platform, const char* name) {
  return replaced(platform, name,
                  active_layer().next.clGetExtensionFunctionAddressForPlatform(platform, name));
}

} // namespace

void add_extension_calls(cl_icd_dispatch& table) {
  intercept(table.clGetExtensionFunctionAddress, get_extension_function);
  intercept(table.clGetExtensionFunctionAddressForPlatform, get_platform_extension_function);
}

} // namespace clbin::layer
