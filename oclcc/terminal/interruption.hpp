// What main() needs of the process: signals that end it in good order, and open standard streams.
#pragma once

#include <csignal>
#include <stop_token>
#include <thread>

namespace oclcc {

// Returns the signals that end a run in good order, except those that are ignored (nohup).
[[nodiscard]] sigset_t ending_signals();

// Handles the signals from its construction on, except signals that are already ignored (nohup). A
// separate thread waits for them, and threads that start later block them. Construct this object
// before any other thread starts, and at most one per executable. When a signal arrives, the
// separate thread stops `stop_token`. After the callbacks of the token have returned, the same
// signal ends the process.
class Interruption {
public:
  Interruption();
  ~Interruption();                       // restores the previous signal handling
  Interruption(Interruption&&) = delete; // and no copies

  [[nodiscard]] std::stop_token stop_token() const noexcept { return m_stop.get_token(); }

private:
  void wait();

  sigset_t m_signals{}; // that the thread waits for
  sigset_t m_before{};
  std::stop_source m_stop;
  std::thread m_thread;
};

// Opens each closed standard stream such that its use still fails with EBADF. Otherwise, the next
// opened file would get its number: messages would be written into an output file with number 2.
// Returns false and sets errno on failure. Call it first, from the only thread.
[[nodiscard]] bool keep_standard_files_open() noexcept;

} // namespace oclcc
