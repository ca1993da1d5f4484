#include "storage_http/web_address.hpp"

#include <algorithm>
#include <curl/curl.h>
#include <fmt/core.h>
#include <memory>
#include <string_view>
#include <utility>

namespace oclcc::storage_http {

using clbin::base::ErrorCode;
using clbin::base::fail;
using clbin::base::Result;

namespace {

struct FreeUrl {
  void operator()(CURLU* url) const noexcept { curl_url_cleanup(url); }
};
using ParsedUrl = std::unique_ptr<CURLU, FreeUrl>;

struct FreeText {
  void operator()(char* text) const noexcept { curl_free(text); }
};

// Returns an empty text if the URL has no such part.
std::string part_of(const ParsedUrl& url, CURLUPart part, unsigned int flags = 0) {
  char* text = nullptr;
  if (curl_url_get(url.get(), part, &text, flags) != CURLUE_OK) {
    return {};
  }
  const std::unique_ptr<char, FreeText> owner(text);
  return text;
}

bool has_part(const ParsedUrl& url, CURLUPart part) {
  char* text = nullptr;
  const bool has_it = curl_url_get(url.get(), part, &text, 0) == CURLUE_OK;
  const std::unique_ptr<char, FreeText> owner(text);
  return has_it;
}

std::string in_lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  });
  return text;
}

} // namespace

Result<WebAddress> WebAddress::parse(const std::string& text, Query query) {
  const ParsedUrl url(curl_url());
  if (!url) {
    return fail(ErrorCode::out_of_memory, "cannot parse the URL: out of memory");
  }
  // Without CURLU_NON_SUPPORT_SCHEME, libcurl accepts the schemes that it was built with.
  if (curl_url_set(url.get(), CURLUPART_URL, text.c_str(), 0) != CURLUE_OK ||
      text.find('\0') != std::string::npos) {
    return fail(ErrorCode::invalid_argument, "the URL of the storage is not valid");
  }
  const std::string scheme = part_of(url, CURLUPART_SCHEME);
  if (scheme != "http" && scheme != "https") {
    return fail(ErrorCode::invalid_argument,
                "the URL of the storage must begin with 'http://' or 'https://'");
  }
  if (has_part(url, CURLUPART_USER) || has_part(url, CURLUPART_PASSWORD)) {
    return fail(ErrorCode::invalid_argument,
                "the URL of the storage contains a user name or a password");
  }
  const bool has_query = has_part(url, CURLUPART_QUERY) || has_part(url, CURLUPART_FRAGMENT) ||
                         text.find_first_of("?#") != std::string::npos;
  if (has_query && query == Query::rejected) {
    return fail(ErrorCode::invalid_argument, "the URL of the storage contains a query");
  }
  (void)curl_url_set(url.get(), CURLUPART_FRAGMENT, nullptr, 0);
  std::string normal = part_of(url, CURLUPART_URL);
  if (!has_query) {
    normal.erase(normal.find_last_not_of('/') + 1);
  }
  return WebAddress(std::move(normal),
                    in_lower_case(fmt::format("{}://{}:{}", scheme, part_of(url, CURLUPART_HOST),
                                              part_of(url, CURLUPART_PORT, CURLU_DEFAULT_PORT))));
}

WebAddress WebAddress::entry(const clbin::base::Digest& key) const {
  return {fmt::format("{}/ac/{}", m_text, clbin::base::to_hex(key)), m_origin};
}

} // namespace oclcc::storage_http
