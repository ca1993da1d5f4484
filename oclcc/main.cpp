#include "exit_code.hpp"

int main() {
  return static_cast<int>(oclcc::ExitCode::command_line);
}
