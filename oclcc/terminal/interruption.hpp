// What main() needs of the process: its words, signals that end it in good order, and open standard
// streams.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace oclcc {

// Returns the words of the command line without the name of the program, in UTF-8.
[[nodiscard]] std::vector<std::string> command_line_words(int argc, char** argv);

// Handles the signals from its construction on, except signals that are already ignored (nohup). A
// separate thread waits for them, and threads that start later block them. Construct this object
// before any other thread starts, and at most one per executable. When a signal arrives, the
// separate thread stops `stop_token`. After the callbacks of the token have returned, the same
// signal ends the process. On Windows, these are the events of a console, which end it in the same
// way.
class Interruption {
public:
  Interruption();
  ~Interruption();                       // restores the previous signal handling
  Interruption(Interruption&&) = delete; // and no copies

  [[nodiscard]] std::stop_token stop_token() const noexcept { return m_stop.get_token(); }

private:
  struct State;
  std::stop_source m_stop;
  std::unique_ptr<State> m_state;
};

// Makes writes beyond a limit errors, keeps the exit statuses of children, and opens each closed
// standard stream such that its use still fails with EBADF. Otherwise, the next opened file would
// get its number: messages would be written into an output file with number 2. On Windows, the
// streams are UTF-8 without carriage returns. Returns false and sets errno on failure. Call it
// first, from the only thread.
[[nodiscard]] bool prepare_process() noexcept;

} // namespace oclcc
