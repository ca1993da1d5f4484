#include "faults/call_log.hpp"

#include <cstdlib>
#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

namespace clbin::faults {

CallLog::CallLog() {
  const char* const path = std::getenv("CLBIN_FAULTS_LOG");
  if (path != nullptr && *path != '\0') {
    m_file = ::open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  }
}

CallLog::~CallLog() {
  if (m_file >= 0) {
    ::close(m_file);
  }
}

void CallLog::write(const std::string& line) const {
  if (m_file < 0) {
    return;
  }
  const std::string text = fmt::format("{} {}\n", ::getpid(), line);
  if (::write(m_file, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    // A test could pass wrongly if its log lacked a line.
    std::abort();
  }
}

} // namespace clbin::faults
