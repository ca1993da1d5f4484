#include "layer/queries.hpp"

#include <cstring>

namespace clbin::layer {

cl_int answer_bytes(base::ByteView bytes, std::size_t size, void* value,
                    std::size_t* size_ret) noexcept {
  if (value != nullptr && size < bytes.size()) {
    return CL_INVALID_VALUE;
  }
  if (value != nullptr && !bytes.empty()) {
    std::memcpy(value, bytes.data(), bytes.size());
  }
  if (size_ret != nullptr) {
    *size_ret = bytes.size();
  }
  return CL_SUCCESS;
}

cl_int answer_text(const std::string& text, std::size_t size, void* value,
                   std::size_t* size_ret) noexcept {
  return answer_bytes(std::as_bytes(std::span(text.c_str(), text.size() + 1)), size, value,
                      size_ret);
}

std::vector<cl_device_id> context_devices(const cl_icd_dispatch& next, cl_context context) {
  return list_of<cl_device_id>([&](std::size_t size, void* value, std::size_t* size_ret) {
    return next.clGetContextInfo(context, CL_CONTEXT_DEVICES, size, value, size_ret);
  });
}

std::vector<cl_device_id> program_devices(const cl_icd_dispatch& next, cl_program program) {
  return list_of<cl_device_id>([&](std::size_t size, void* value, std::size_t* size_ret) {
    return next.clGetProgramInfo(program, CL_PROGRAM_DEVICES, size, value, size_ret);
  });
}

} // namespace clbin::layer
