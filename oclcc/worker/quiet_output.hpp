// Discards what a driver prints.
#pragma once

namespace oclcc::worker {

// Redirects standard output and standard error to /dev/null during its lifetime.
class QuietOutput {
public:
  QuietOutput() noexcept;
  ~QuietOutput();
  QuietOutput(const QuietOutput&) = delete;
  QuietOutput& operator=(const QuietOutput&) = delete;

private:
  int m_output; // standard output and standard error of a worker are the same file
};

} // namespace oclcc::worker
