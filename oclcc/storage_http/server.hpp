// Serves the clients of a socket until there is nothing to do.
#pragma once

#include "storage_http/http_client.hpp"
#include "storage_http/private_socket.hpp"

#include <chrono>

namespace oclcc::storage_http {

// Accepts processes of this user as clients and performs their requests, up to k_max_threads at
// once. A connection without a request needs no thread. Returns after `idle` without a request, or
// if the socket's file was removed or replaced; then the socket's files are removed. Returns
// ErrorCode::internal if the system has no descriptors for the server.
[[nodiscard]] clbin::base::Result<void> serve(PrivateSocket& socket, HttpClient& client,
                                              std::chrono::seconds idle);

} // namespace oclcc::storage_http
