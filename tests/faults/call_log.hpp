// One line for each intercepted call, so that a test proves which path was taken.
#pragma once

#include <string>

namespace clbin::faults {

// Appends to the file named by CLBIN_FAULTS_LOG, a whole line in one system call, so that the lines
// of several processes do not mix. Without that variable nothing is written.
class CallLog {
public:
  CallLog();
  ~CallLog();
  CallLog(const CallLog&) = delete;
  CallLog& operator=(const CallLog&) = delete;

  void write(const std::string& line) const;

private:
  int m_file = -1;
};

} // namespace clbin::faults
