// The command of --sign-with: signs without showing its key to oclcc.
#pragma once

#include "base/byte_codec.hpp"
#include "base/crypto/ed25519.hpp"
#include "worker/worker_home.hpp"

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>

namespace oclcc::trust {

// Messages do not contain the command, which may contain a password. Not thread-safe.
class SignCommand {
public:
  // `limit`: of the time of one signature. If `stop` is requested, or oclcc is killed, the running
  // command and the processes that it has started are ended. Call it before other threads start.
  // Errors: those of WorkerHome::create.
  [[nodiscard]] static clbin::base::Result<SignCommand>
  create(std::string command, std::chrono::seconds limit, std::stop_token stop);

  // Runs the command with /bin/sh. It reads `message`, at most 4096 bytes, from standard input and
  // writes the signature to standard output: 64 bytes, 88 base64 digits, or a signature file as
  // minisign -l writes it. Its standard error is that of oclcc. Blocks until it exits, or ends it
  // after the limit. Does not check the signature. file_read: the command fails, does not finish,
  // or writes something else.
  [[nodiscard]] clbin::base::Result<clbin::base::Signature> sign(clbin::base::ByteView message);

private:
  SignCommand(std::string command, std::chrono::seconds limit,
              std::shared_ptr<worker::WorkerHome> home)
      : m_command(std::move(command)), m_limit(limit), m_home(std::move(home)) {}

  std::string m_command;
  std::chrono::seconds m_limit;
  std::shared_ptr<worker::WorkerHome> m_home; // its path marks the command's processes
};

} // namespace oclcc::trust
