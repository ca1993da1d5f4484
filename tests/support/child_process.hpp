// Runs functions that may crash or hang in a child process.
#pragma once

#include <functional>
#include <iosfwd>
#include <optional>

namespace clbin::test {

struct ChildEnd {
  std::optional<int> exit_code;     // the result of the body
  std::optional<int> signal_number; // the signal that ended it otherwise

  friend bool operator==(const ChildEnd&, const ChildEnd&) = default;
};
void PrintTo(const ChildEnd& end, std::ostream* out);

// Forks. Call it before this process starts a driver, because threads do not survive a fork. The
// child prints failed expectations of the body, and its exit code is then 1.
class ChildProcess {
public:
  explicit ChildProcess(const std::function<int()>& body);
  // Kills the child if it still runs.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  [[nodiscard]] int id() const noexcept { return m_id; }
  [[nodiscard]] bool is_running();
  [[nodiscard]] ChildEnd wait();
  void kill_it(int signal_number) const;

private:
  int m_id = -1;
  std::optional<ChildEnd> m_end;
};

[[nodiscard]] ChildEnd run_in_child(const std::function<int()>& body);

} // namespace clbin::test
