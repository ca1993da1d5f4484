// Bodies that may crash or hang, in a process of their own.
#pragma once

#include <functional>
#include <iosfwd>
#include <optional>

namespace clbin::test {

struct ChildEnd {
  std::optional<int> exit_code;     // what the body returned
  std::optional<int> signal_number; // what ended it otherwise

  friend bool operator==(const ChildEnd&, const ChildEnd&) = default;
};
void PrintTo(const ChildEnd& end, std::ostream* out);

// A fork; call it before this process has met a driver (threads do not survive a fork). Failed
// expectations of the body are printed by the child and make its exit code 1.
class ChildProcess {
public:
  explicit ChildProcess(const std::function<int()>& body);
  // Kills a child that still runs.
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
