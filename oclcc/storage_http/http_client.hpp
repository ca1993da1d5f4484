// Performs the requests of oclcc on an HTTP server, with libcurl.
#pragma once

#include "storage_http/frame.hpp"
#include "storage_http/settings.hpp"

#include <memory>

namespace oclcc::storage_http {

// GET, HEAD and PUT of URL/ac/KEY. Reuses connections to the server.
//
// GET and HEAD follow at most five redirects to http and https addresses. Neither the token nor
// passwords of a netrc file are sent after a redirect to another scheme, host or port.
class HttpClient {
public:
  // Initialises libcurl. Must be called once, before the process starts threads. Returns
  // ErrorCode::internal if that fails, or if SSL_CERT_FILE or SSL_CERT_DIR cannot be made absolute.
  [[nodiscard]] static clbin::base::Result<std::unique_ptr<HttpClient>> create(Settings settings);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // Returns at the deadline of the request at the latest, with Status::failed and the reason. The
  // reason contains the URL of the request, but neither the token nor anything that the server
  // sent. Answers of the server can be any bytes. Thread-safe.
  [[nodiscard]] Reply perform(const Request& request);

private:
  struct State;
  explicit HttpClient(std::unique_ptr<State> state);
  std::unique_ptr<State> m_state;
};

} // namespace oclcc::storage_http
