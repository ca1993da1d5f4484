// Logs one line for each intercepted call, so a test can prove which path was taken.
#pragma once

#include <string>

namespace clbin::faults {

// Appends to the file that CLBIN_FAULTS_LOG names. Writes each line in one system call, because
// several processes share the file. Writes nothing if the variable is not set.
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
