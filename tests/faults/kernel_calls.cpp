// Kernels and their launches.
#include "faults/intercepted_call.hpp"
#include "faults/remaining_kernels.hpp"

namespace clbin::faults {

namespace {

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

// Creates all remaining kernels one by one.
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

} // namespace

void add_kernel_calls(cl_icd_dispatch& table) {
  table.clCreateKernel = create_kernel;
  table.clCreateKernelsInProgram = create_kernels_in_program;
  table.clEnqueueNDRangeKernel = enqueue_nd_range_kernel;
}

} // namespace clbin::faults
