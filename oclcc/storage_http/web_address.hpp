// An http or https URL, parsed by libcurl.
#pragma once

#include "base/digest.hpp"
#include "base/result.hpp"

#include <string>

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

} // namespace oclcc::storage_http
