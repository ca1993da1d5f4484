// Serves the clients of a Unix socket with a name that at most one process serves.
#pragma once

#include "base/file_io.hpp"
#include "remote/storage_http/http_client.hpp"

namespace oclcc::storage_http {

// Whose the socket is: this process's, or that of another, which accepts connections.
enum class Claim : std::uint8_t { own, other };

// Listens at `path` and replaces a socket that a dead process left there. Blocks at most two
// seconds for a live process that locks the path. Then calls `ready`, and serves unless the socket
// is that of another process.
//
// Accepts processes of this user as clients, each on a thread, and performs their requests, up to
// k_max_requests at once. Returns after the client's idle() without a request, or if the socket's
// file was removed or replaced; then the socket's files are removed.
//
// Errors: invalid_argument if the path is too long for a socket, or if its directory does not
// belong to the user, or if others can use the directory. file_write if the system fails.
[[nodiscard]] Result<void> serve(const std::filesystem::path& path, HttpClient& client,
                                 const std::function<void(Claim)>& ready);

} // namespace oclcc::storage_http
