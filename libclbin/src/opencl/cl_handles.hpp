// Owning handles of OpenCL objects. Each handle stores its release function.
#pragma once

#include "opencl/driver.hpp"

#include <utility>

namespace clbin::opencl {

template <typename T>
class Handle {
public:
  using Release = cl_int(CL_API_CALL*)(T);
  Handle() = default;
  Handle(T object, Release release) noexcept : m_object(object), m_release(release) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  Handle(Handle&& other) noexcept
      : m_object(std::exchange(other.m_object, nullptr)), m_release(other.m_release) {}
  Handle& operator=(Handle&& other) noexcept {
    if (this != &other) {
      reset();
      m_object = std::exchange(other.m_object, nullptr);
      m_release = other.m_release;
    }
    return *this;
  }
  ~Handle() { reset(); }

  [[nodiscard]] T get() const noexcept { return m_object; }
  [[nodiscard]] T take() noexcept { return std::exchange(m_object, nullptr); }
  explicit operator bool() const noexcept { return m_object != nullptr; }

private:
  void reset() noexcept {
    if (m_object != nullptr) {
      (void)m_release(std::exchange(m_object, nullptr));
    }
  }
  T m_object = nullptr;
  Release m_release = nullptr;
};

using Context = Handle<cl_context>;
using Program = Handle<cl_program>;
using Kernel = Handle<cl_kernel>;

} // namespace clbin::opencl
