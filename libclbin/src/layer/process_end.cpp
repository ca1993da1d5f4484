#include "layer/process_end.hpp"

#include <atomic>

namespace clbin::layer {
namespace {

// Trivially destructible, so that it can be read until the end.
std::atomic<bool>& end_flag() noexcept {
  static std::atomic<bool> flag = false;
  return flag;
}

struct EndNotice {
  EndNotice() = default;
  EndNotice(const EndNotice&) = delete;
  EndNotice& operator=(const EndNotice&) = delete;
  ~EndNotice() { end_flag() = true; }
};

} // namespace

// Static objects are destroyed in the reverse order of their construction. The layer stays mapped
// until then (-z nodelete), and the destructor calls nothing.
void watch_process_end() {
  static const EndNotice notice;
}

bool process_is_ending() noexcept {
  return end_flag();
}

} // namespace clbin::layer
