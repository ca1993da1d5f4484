// Answers to queries of programs.
#include "faults/intercepted_call.hpp"
#include "faults/remaining_kernels.hpp"

namespace clbin::faults {

namespace {

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

// Returns the devices of a program, or its binaries, in reverse order.
template <typename Item>
cl_int give_reversed(const InfoRequest& request) {
  auto items = list_of<Item>([&](std::size_t size, void* value, std::size_t* size_ret) {
    return next().clGetProgramInfo(request.program, request.name, size, value, size_ret);
  });
  std::reverse(items.begin(), items.end());
  return give_bytes(static_cast<const void*>(items.data()), items.size() * sizeof(Item),
                    request.size, request.value, request.size_ret);
}

cl_int give_binaries_reversed(const InfoRequest& request) {
  if (request.value == nullptr) {
    return next().clGetProgramInfo(request.program, request.name, request.size, nullptr,
                                   request.size_ret);
  }
  auto* const outputs = static_cast<unsigned char**>(request.value);
  std::vector<unsigned char*> places(outputs, outputs + request.size / sizeof(unsigned char*));
  std::reverse(places.begin(), places.end());
  return next().clGetProgramInfo(request.program, request.name, request.size,
                                 static_cast<void*>(places.data()), request.size_ret);
}

std::optional<cl_int> other_way_round(const InfoRequest& request, const Subject& subject) {
  const bool is_list = request.name == CL_PROGRAM_DEVICES ||
                       request.name == CL_PROGRAM_BINARY_SIZES ||
                       request.name == CL_PROGRAM_BINARIES;
  if (!is_list || !is_reversed(Call::get_program_info, subject)) {
    return std::nullopt;
  }
  if (request.name == CL_PROGRAM_DEVICES) {
    return give_reversed<cl_device_id>(request);
  }
  return request.name == CL_PROGRAM_BINARIES ? give_binaries_reversed(request)
                                             : give_reversed<std::size_t>(request);
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
  if (!faulty.has_value()) {
    faulty = other_way_round(request, subject);
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

} // namespace

void add_program_answers(cl_icd_dispatch& table) {
  table.clGetProgramInfo = get_program_info;
  table.clGetProgramBuildInfo = get_program_build_info;
}

} // namespace clbin::faults
