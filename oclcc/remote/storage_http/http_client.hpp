// Performs the requests of oclcc on an HTTP server, with libcurl.
#pragma once

#include "base/digest.hpp"
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

} // namespace oclcc::storage_http
