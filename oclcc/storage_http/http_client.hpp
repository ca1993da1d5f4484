// Performs the requests of oclcc on an HTTP server, with libcurl.
#pragma once

#include "base/byte_codec.hpp"
#include "base/digest.hpp"
#include "base/result.hpp"
#include "storage_http/storage_protocol.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace oclcc::storage_http {

enum class Query : bool { rejected, accepted };

// An immutable value. Thread-safe.
class WebAddress {
public:
  // Returns invalid_argument unless `text` is an http or https URL with a host, without a user name
  // and password, and, if `query` is Query::rejected, without a query and a fragment. Messages
  // contain neither user names nor queries. `text` can be any bytes.
  [[nodiscard]] static clbin::base::Result<WebAddress> parse(const std::string& text, Query query);

  // Returns this address with "/ac/" and the 64 hexadecimal digits of `key` appended to its path.
  [[nodiscard]] WebAddress entry(const clbin::base::Digest& key) const;

  // The URL for requests, including the query of an address that was parsed with Query::accepted.
  [[nodiscard]] const std::string& text() const noexcept { return m_text; }
  // Returns true if scheme, host and port are equal.
  [[nodiscard]] bool has_origin_of(const WebAddress& other) const noexcept {
    return m_origin == other.m_origin;
  }

private:
  WebAddress(std::string text, std::string origin)
      : m_text(std::move(text)), m_origin(std::move(origin)) {}

  std::string m_text;   // no '/' at the end
  std::string m_origin; // "https://host:443", in lower case
};

enum class Mode : std::uint8_t { read_write, read_only };

struct Settings {
  WebAddress url;
  std::string token; // empty: none
  Mode mode;
  std::chrono::milliseconds timeout; // of connecting, and of requests without a deadline
  std::chrono::seconds idle;
  std::filesystem::path netrc; // absolute; empty: ~/.netrc, if it exists
};

// Parses lines "name=value". Returns invalid_argument for a line without '=', an unknown, repeated
// or missing name, and an invalid value. file_not_found or file_read if the netrc file cannot be
// read. No message contains the token.
[[nodiscard]] clbin::base::Result<Settings> parse_settings(std::string_view text);

// A request of oclcc and its reply (storage_protocol.hpp).
struct Request {
  Operation operation = Operation::get;
  std::chrono::milliseconds deadline{0};
  clbin::base::Digest key;
  clbin::base::Bytes payload;
};

struct Reply {
  Status status = Status::failed;
  clbin::base::Bytes payload;
};

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
