// Finds, starts and reaches oclcc-storage-http, which serves several runs and ends when none has
// used it for a while.
#pragma once

#include "remote/remote_settings.hpp"
#include "remote/storage_client.hpp"

#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace oclcc::remote {

inline constexpr std::string_view k_storage_program = "oclcc-storage-http";

// Returns the helper: beside `executable`, in ../libexec/oclcc, or in the directories of `path`
// (the variable PATH). std::nullopt if there is none.
[[nodiscard]] std::optional<std::filesystem::path>
find_storage_helper(const std::filesystem::path& executable, std::string_view path);

// Returns the directory of the sockets, and creates it: $XDG_RUNTIME_DIR/oclcc-storage, otherwise
// /tmp/oclcc-storage-UID. file_read: another user owns it, or can use it.
[[nodiscard]] clbin::base::Result<std::filesystem::path>
storage_folder(const clbin::cache::ProcessEnvironment& environment);

// Connects to the helper of one server. Thread-safe.
class StorageHelper {
public:
  // `program` is the helper's file, and `folder` that of storage_folder.
  StorageHelper(const RemoteSettings& settings, const std::filesystem::path& program,
                const std::filesystem::path& folder,
                const clbin::cache::ProcessEnvironment& environment);

  // Connects, and starts the helper first if none runs with these settings. Errors: those of
  // StorageClient::connect; file_read, with the line of a helper that could not start.
  [[nodiscard]] clbin::base::Result<StorageClient> connect(Clock::time_point deadline,
                                                           const WakeUp& wake_up);
  // Different for other settings of this cache, other variables that the helper reads, another
  // helper and another version of the protocol.
  [[nodiscard]] const std::string& socket_path() const noexcept { return m_socket; }

private:
  [[nodiscard]] clbin::base::Result<void> start(Clock::time_point deadline) const;

  std::filesystem::path m_program;
  std::string m_settings; // what the helper reads from its standard input; contains the token
  std::string m_socket;
  std::mutex m_start;                          // of what follows
  std::optional<clbin::base::Error> m_failure; // of a start, which is not repeated
};

} // namespace oclcc::remote
