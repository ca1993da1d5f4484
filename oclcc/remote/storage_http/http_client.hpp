// Performs the requests of oclcc on an HTTP server, with libcurl, and serves the clients of a Unix
// socket with a name that at most one process serves.
#pragma once

#include "base/digest.hpp"
#include "base/file_io.hpp"
#include "remote/storage_http/storage_protocol.hpp"

#include <chrono>

namespace oclcc::storage_http {

namespace base = clbin::base;
using base::Bytes;
using base::ErrorCode;
using base::fail;
using base::Result;

// A request of oclcc and its reply (storage_protocol.hpp).
struct Request {
  Operation operation = Operation::get;
  std::chrono::milliseconds deadline{0};
  base::Digest key;
  Bytes payload;
};

struct Reply {
  Status status = Status::failed;
  Bytes payload;
};

// GET, HEAD and PUT of URL/ac/KEY. Reuses connections to the server.
//
// GET and HEAD follow at most five redirects to http and https addresses. Neither the token nor
// passwords of a netrc file are sent after a redirect to another scheme, host or port.
class HttpClient {
public:
  // Initialises libcurl. Must be called once, before the process starts threads. `settings` are
  // lines "name=value". Returns invalid_argument for a line without '=', an unknown, repeated or
  // missing name, and an invalid value; file_not_found or file_read if the netrc file cannot be
  // read; internal if libcurl cannot be initialised, or if SSL_CERT_FILE or SSL_CERT_DIR cannot be
  // made absolute. No message contains the token.
  [[nodiscard]] static Result<std::unique_ptr<HttpClient>> create(std::string_view settings);
  HttpClient() = default;
  virtual ~HttpClient() = default;
  HttpClient(HttpClient&&) = delete; // and no copies

  // Returns how long to wait for a request.
  [[nodiscard]] virtual std::chrono::seconds idle() const noexcept = 0;
  // Returns at the deadline of the request at the latest, with Status::failed and the reason. The
  // reason contains the URL of the request, but neither the token nor anything that the server
  // sent. Answers of the server can be any bytes. Thread-safe.
  [[nodiscard]] virtual Reply perform(const Request& request) = 0;
};

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
