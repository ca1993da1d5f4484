#include "remote/storage_http/http_client.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <curl/curl.h>
#include <map>
#include <mutex>
#include <new>
#include <system_error>
#include <unistd.h>

namespace oclcc::storage_http {

using std::chrono::milliseconds;

namespace {

template <auto Free>
struct FreeWith {
  void operator()(auto* object) const noexcept { Free(object); }
};
using ParsedUrl = std::unique_ptr<CURLU, FreeWith<curl_url_cleanup>>;

// Returns std::nullopt if the URL has no such part.
std::optional<std::string> part_of(const ParsedUrl& url, CURLUPart part, unsigned int flags = 0) {
  char* text = nullptr;
  if (curl_url_get(url.get(), part, &text, flags) != CURLUE_OK) {
    return std::nullopt;
  }
  const std::unique_ptr<char, FreeWith<curl_free>> owner(text);
  return text;
}

std::string in_lower_case(std::string text) {
  std::ranges::transform(text, text.begin(), [](char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  });
  return text;
}

enum class Query : bool { rejected, accepted };

// An immutable value. Thread-safe.
class WebAddress {
public:
  // Returns invalid_argument unless `text` is an http or https URL with a host, without a user name
  // and password, and, if `query` is Query::rejected, without a query and a fragment. Messages
  // contain neither user names nor queries. `text` can be any bytes.
  static Result<WebAddress> parse(const std::string& text, Query query) {
    const ParsedUrl url(curl_url());
    if (!url) {
      return fail(ErrorCode::out_of_memory, "cannot parse the URL: out of memory");
    }
    // Without CURLU_NON_SUPPORT_SCHEME, libcurl accepts the schemes that it was built with.
    if (curl_url_set(url.get(), CURLUPART_URL, text.c_str(), 0) != CURLUE_OK ||
        text.find('\0') != std::string::npos) {
      return fail(ErrorCode::invalid_argument, "the URL of the storage is not valid");
    }
    const std::string scheme = part_of(url, CURLUPART_SCHEME).value_or("");
    if (scheme != "http" && scheme != "https") {
      return fail(ErrorCode::invalid_argument,
                  "the URL of the storage must begin with 'http://' or 'https://'");
    }
    if (part_of(url, CURLUPART_USER) || part_of(url, CURLUPART_PASSWORD)) {
      return fail(ErrorCode::invalid_argument,
                  "the URL of the storage contains a user name or a password");
    }
    const bool has_query = part_of(url, CURLUPART_QUERY) || part_of(url, CURLUPART_FRAGMENT) ||
                           text.find_first_of("?#") != std::string::npos;
    if (has_query && query == Query::rejected) {
      return fail(ErrorCode::invalid_argument, "the URL of the storage contains a query");
    }
    (void)curl_url_set(url.get(), CURLUPART_FRAGMENT, nullptr, 0);
    std::string normal = part_of(url, CURLUPART_URL).value_or("");
    if (!has_query) {
      normal.erase(normal.find_last_not_of('/') + 1);
    }
    return WebAddress(
        std::move(normal),
        in_lower_case(fmt::format("{}://{}:{}", scheme, part_of(url, CURLUPART_HOST).value_or(""),
                                  part_of(url, CURLUPART_PORT, CURLU_DEFAULT_PORT).value_or(""))));
  }

  // Returns this address with "/ac/" and the 64 hexadecimal digits of `key` appended to its path.
  [[nodiscard]] WebAddress entry(const base::Digest& key) const {
    return {fmt::format("{}/ac/{}", m_text, base::to_hex(key)), m_origin};
  }

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

struct Settings {
  WebAddress url;
  std::string token{}; // empty: none
  bool is_read_only = false;
  std::chrono::milliseconds timeout{}; // of connecting, and of requests without a deadline
  std::chrono::seconds idle{};
  std::filesystem::path netrc{}; // absolute; empty: ~/.netrc, if it exists
};

constexpr std::array<std::string_view, 6> k_names = {"url",        "token",  "mode",
                                                     "timeout-ms", "idle-s", "netrc"};
constexpr std::int64_t k_max_number = 86'400'000; // a day in milliseconds

using Values = std::map<std::string, std::string, std::less<>>;

Result<Values> values_of(std::string_view text) {
  Values values;
  for (const std::string_view line : base::split_lines(text)) {
    const auto equals = line.find('=');
    if (equals == std::string_view::npos) {
      return fail(ErrorCode::invalid_argument, "a line of the settings has no '='");
    }
    const std::string_view name = line.substr(0, equals);
    if (std::ranges::find(k_names, name) == k_names.end()) {
      return fail(ErrorCode::invalid_argument, "a line of the settings has an unknown name");
    }
    if (!values.emplace(name, line.substr(equals + 1)).second) {
      return fail(ErrorCode::invalid_argument, "the settings contain '{}' twice", name);
    }
  }
  return values;
}

// Returns `otherwise` if the settings do not contain `name`.
Result<std::int64_t> number(const Values& values, std::string_view name, std::int64_t otherwise) {
  const auto found = values.find(name);
  if (found == values.end()) {
    return otherwise;
  }
  const auto value = base::parse_number<std::int64_t>(found->second).value_or(0);
  if (value < 1 || value > k_max_number) {
    return fail(ErrorCode::invalid_argument, "'{}' must be a number from 1 to {}", name,
                k_max_number);
  }
  return value;
}

// Returns an empty text if the settings do not contain `name`.
std::string text_of(const Values& values, std::string_view name) {
  const auto found = values.find(name);
  return found == values.end() ? std::string() : found->second;
}

Result<std::filesystem::path> netrc_of(const Values& values) {
  const std::string given = text_of(values, "netrc");
  if (given.empty()) {
    return std::filesystem::path();
  }
  // The helper changes its working directory.
  std::error_code error;
  auto path = std::filesystem::absolute(given, error);
  // libcurl ignores a file that it cannot read.
  if (error || ::access(path.c_str(), R_OK) != 0) {
    return base::open_error(base::in_quotes(given), error ? error.value() : errno);
  }
  return path;
}

// Errors as for HttpClient::create.
Result<Settings> parse_settings(std::string_view text) {
  CLBIN_TRY_ASSIGN(const Values values, values_of(text));
  const auto url = values.find("url");
  if (url == values.end()) {
    return fail(ErrorCode::invalid_argument, "the settings have no 'url'");
  }
  CLBIN_TRY_ASSIGN(WebAddress address, WebAddress::parse(url->second, Query::rejected));
  Settings settings{std::move(address)};
  const std::string mode = text_of(values, "mode");
  settings.is_read_only = mode == "read-only";
  if (!settings.is_read_only && mode != "read-write") {
    return fail(ErrorCode::invalid_argument, "'mode' must be 'read-write' or 'read-only'");
  }
  settings.token = text_of(values, "token");
  // Anything else could end the header that contains the token.
  const auto is_visible = [](char letter) { return letter > ' ' && letter <= '~'; };
  if (!std::ranges::all_of(settings.token, is_visible)) {
    return fail(ErrorCode::invalid_argument,
                "the token contains a space, a control character, or a byte that is not ASCII");
  }
  CLBIN_TRY_ASSIGN(const std::int64_t timeout, number(values, "timeout-ms", 5000));
  CLBIN_TRY_ASSIGN(const std::int64_t idle, number(values, "idle-s", 300));
  settings.timeout = std::chrono::milliseconds(timeout);
  settings.idle = std::chrono::seconds(idle);
  CLBIN_TRY_ASSIGN(settings.netrc, netrc_of(values));
  return settings;
}

constexpr int k_max_redirects = 5;
// Of an answer whose content is ignored. It is read to reuse the connection.
constexpr std::size_t k_max_ignored_bytes = 1U << 20U;

using Handle = std::unique_ptr<CURL, FreeWith<curl_easy_cleanup>>;

using List = std::unique_ptr<curl_slist, FreeWith<curl_slist_free_all>>;

enum class Credentials : bool { withheld, sent };

enum class Content : std::uint8_t { received, too_long, no_memory };

// The content of an answer, while it is received.
struct Receiver {
  CURL* handle = nullptr;
  Content content = Content::received;
  std::size_t ignored_bytes = 0;
  Bytes bytes;
};

struct Answer {
  CURLcode code = CURLE_OK;
  long status = 0;
  Content content = Content::received;
  Bytes bytes;          // of an answer 200
  std::string redirect; // absolute; empty: none
  std::string reason;   // libcurl's own, if `code` is an error
  int system_error = 0; // of connecting: refused, or a lack of descriptors
};

long status_of(CURL* handle) {
  long status = 0;
  (void)curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
  return status;
}

// libcurl's callback: any number other than `count` ends the transfer.
std::size_t receive(char* text, std::size_t /*one*/, std::size_t count, void* user) noexcept {
  auto& receiver = *static_cast<Receiver*>(user);
  if (status_of(receiver.handle) != 200) {
    receiver.ignored_bytes += count;
    return receiver.ignored_bytes <= k_max_ignored_bytes ? count : 0;
  }
  if (count > k_max_entry_bytes - receiver.bytes.size()) {
    receiver.content = Content::too_long;
    return 0;
  }
  try {
    const auto bytes = base::as_bytes({text, count});
    receiver.bytes.insert(receiver.bytes.end(), bytes.begin(), bytes.end());
  } catch (const std::bad_alloc&) {
    receiver.content = Content::no_memory;
    return 0;
  }
  return count;
}

bool is_redirect(long status) noexcept {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

std::string_view name_of(Operation operation) noexcept {
  return operation == Operation::get ? "GET" : operation == Operation::put ? "PUT" : "HEAD";
}

std::string reason_of(const Answer& answer, milliseconds limit) {
  if (answer.content == Content::no_memory) {
    return "out of memory";
  }
  if (answer.content == Content::too_long || answer.code == CURLE_FILESIZE_EXCEEDED) {
    return fmt::format("the answer is longer than {} MiB", k_max_entry_bytes >> 20U);
  }
  switch (answer.code) {
  case CURLE_OPERATION_TIMEDOUT:
    return fmt::format("no complete answer within {} ms", limit.count());
  case CURLE_COULDNT_CONNECT:
    return answer.system_error == 0
               ? "cannot connect to the server"
               : fmt::format("cannot connect to the server: {}",
                             std::generic_category().message(answer.system_error));
  case CURLE_PARTIAL_FILE:
    return "the answer is shorter than announced";
  case CURLE_GOT_NOTHING:
    return "the server closed the connection without an answer";
  case CURLE_UNSUPPORTED_PROTOCOL:
    return "the answer is not HTTP";
  case CURLE_WRITE_ERROR:
    return fmt::format("the server answered {} with more than 1 MiB", answer.status);
  default:
    return answer.reason;
  }
}

Reply failed(const Request& request, const WebAddress& address, std::string_view reason) {
  const auto text = fmt::format("{} {}: {}", name_of(request.operation), address.text(), reason);
  const auto bytes = base::as_bytes(text);
  return {Status::failed, {bytes.begin(), bytes.end()}};
}

Reply reply_of(const Request& request, const WebAddress& address, Answer answer) {
  const bool is_put = request.operation == Operation::put;
  const bool is_created = answer.status == 201 || answer.status == 204;
  if (answer.status == 200 || (is_put && is_created)) {
    return {Status::done, request.operation == Operation::get ? std::move(answer.bytes) : Bytes()};
  }
  if (answer.status == 404 && !is_put) {
    return {Status::absent, {}};
  }
  return failed(request, address, fmt::format("the server answered {}", answer.status));
}

// Returns the absolute path that a variable names, because the helper changes its working
// directory. Empty if the variable is not set.
Result<std::string> path_in_environment(const char* name) {
  const char* value = std::getenv(name); // NOLINT(concurrency-mt-unsafe): before any thread
  if (value == nullptr || *value == '\0') {
    return std::string();
  }
  std::error_code error;
  auto path = std::filesystem::absolute(value, error);
  if (error) {
    return fail(ErrorCode::internal, "cannot resolve {}: {}", name, error.message());
  }
  return path.string();
}

class CurlClient final : public HttpClient {
public:
  explicit CurlClient(Settings settings) : m_settings(std::move(settings)) {}

  // Reads the environment, and makes what all requests share.
  Result<void> prepare() {
    CLBIN_TRY_ASSIGN(m_certificate_file, path_in_environment("SSL_CERT_FILE"));
    CLBIN_TRY_ASSIGN(m_certificate_folder, path_in_environment("SSL_CERT_DIR"));
    // An empty "Expect:" sends content at once. Without it, libcurl waits for "100 Continue".
    for (const char* header : {"Expect:", "Content-Type: application/octet-stream"}) {
      curl_slist* longer = curl_slist_append(m_headers.get(), header);
      if (longer == nullptr) {
        return fail(ErrorCode::out_of_memory, "out of memory");
      }
      (void)m_headers.release(); // a part of `longer`
      m_headers.reset(longer);
    }
    return {};
  }

  [[nodiscard]] std::chrono::seconds idle() const noexcept override { return m_settings.idle; }

  [[nodiscard]] Reply perform(const Request& request) override {
    if (request.operation == Operation::put && m_settings.is_read_only) {
      return {Status::refused, {}};
    }
    const WebAddress entry = m_settings.url.entry(request.key);
    Handle handle = take_handle();
    if (!handle) {
      return failed(request, entry, "out of memory");
    }
    Reply reply = follow(handle.get(), request, entry);
    const std::lock_guard lock(m_mutex);
    m_handles.push_back(std::move(handle));
    return reply;
  }

private:
  // Returns a null handle if memory is exhausted.
  Handle take_handle() {
    {
      const std::lock_guard lock(m_mutex);
      if (!m_handles.empty()) {
        Handle handle = std::move(m_handles.back());
        m_handles.pop_back();
        return handle;
      }
    }
    return Handle(curl_easy_init());
  }

  void set_security(CURL* handle, Credentials credentials) const {
    (void)curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
    // perform() follows redirects, because libcurl 7.88 sends some credentials to other hosts.
    (void)curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 0L);
    if (!m_certificate_file.empty()) {
      (void)curl_easy_setopt(handle, CURLOPT_CAINFO, m_certificate_file.c_str());
    }
    if (!m_certificate_folder.empty()) {
      (void)curl_easy_setopt(handle, CURLOPT_CAPATH, m_certificate_folder.c_str());
    }
    if (credentials == Credentials::withheld) {
      (void)curl_easy_setopt(handle, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
      return;
    }
    if (!m_settings.token.empty()) {
      (void)curl_easy_setopt(handle, CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_BEARER));
      (void)curl_easy_setopt(handle, CURLOPT_XOAUTH2_BEARER, m_settings.token.c_str());
      return;
    }
    (void)curl_easy_setopt(handle, CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_BASIC));
    (void)curl_easy_setopt(handle, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_OPTIONAL));
    if (!m_settings.netrc.empty()) {
      (void)curl_easy_setopt(handle, CURLOPT_NETRC_FILE, m_settings.netrc.c_str());
    }
  }

  void set_request(CURL* handle, const Request& request) const {
    (void)curl_easy_setopt(handle, CURLOPT_USERAGENT, "oclcc-storage-http/" OCLCC_VERSION);
    // Each request is a connection's only one: HTTP/2 has no advantage.
    (void)curl_easy_setopt(handle, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    (void)curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    // At the deadline, do not wait for a thread that resolves the name of the host.
    (void)curl_easy_setopt(handle, CURLOPT_QUICK_EXIT, 1L);
    (void)curl_easy_setopt(handle, CURLOPT_MAXFILESIZE_LARGE,
                           static_cast<curl_off_t>(k_max_entry_bytes));
    (void)curl_easy_setopt(handle, CURLOPT_HTTPHEADER, m_headers.get());
    switch (request.operation) {
    case Operation::get:
      (void)curl_easy_setopt(handle, CURLOPT_HTTPGET, 1L);
      break;
    case Operation::head:
      (void)curl_easy_setopt(handle, CURLOPT_NOBODY, 1L);
      break;
    case Operation::put:
      // libcurl can send these fields again if the server closed a reused connection.
      (void)curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE,
                             static_cast<curl_off_t>(request.payload.size()));
      // A null pointer would select a callback.
      (void)curl_easy_setopt(handle, CURLOPT_POSTFIELDS,
                             request.payload.empty() ? "" : base::as_text(request.payload).data());
      (void)curl_easy_setopt(handle, CURLOPT_CUSTOMREQUEST, "PUT");
      break;
    }
  }

  Answer exchange(CURL* handle, const Request& request, const WebAddress& address,
                  Credentials credentials, milliseconds limit) const {
    Receiver receiver{handle, Content::received, 0, {}};
    std::array<char, CURL_ERROR_SIZE> reason{};
    set_security(handle, credentials);
    set_request(handle, request);
    (void)curl_easy_setopt(handle, CURLOPT_URL, address.text().c_str());
    (void)curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, static_cast<long>(limit.count()));
    (void)curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS,
                           static_cast<long>(std::min(limit, m_settings.timeout).count()));
    (void)curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, receive);
    (void)curl_easy_setopt(handle, CURLOPT_WRITEDATA, &receiver);
    (void)curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, reason.data());
    Answer answer;
    answer.code = curl_easy_perform(handle);
    answer.status = status_of(handle);
    answer.content = receiver.content;
    answer.bytes = std::move(receiver.bytes);
    answer.reason = reason.front() != '\0' ? reason.data() : curl_easy_strerror(answer.code);
    long system_error = 0;
    (void)curl_easy_getinfo(handle, CURLINFO_OS_ERRNO, &system_error);
    answer.system_error = static_cast<int>(system_error);
    char* redirect = nullptr;
    if (is_redirect(answer.status) &&
        curl_easy_getinfo(handle, CURLINFO_REDIRECT_URL, &redirect) == CURLE_OK &&
        redirect != nullptr) {
      answer.redirect = redirect;
    }
    curl_easy_reset(handle); // forgets the credentials and `receiver`, and keeps the connection
    return answer;
  }

  Reply follow(CURL* handle, const Request& request, const WebAddress& entry) const {
    using Clock = std::chrono::steady_clock;
    const milliseconds limit =
        request.deadline > milliseconds::zero() ? request.deadline : m_settings.timeout;
    const auto end = Clock::now() + limit;
    WebAddress address = entry;
    Credentials credentials = Credentials::sent;
    for (int redirects = 0; redirects <= k_max_redirects; ++redirects) {
      // libcurl takes 0 for "no limit".
      const auto left =
          std::max(std::chrono::ceil<milliseconds>(end - Clock::now()), milliseconds(1));
      Answer answer = exchange(handle, request, address, credentials, left);
      if (answer.code != CURLE_OK) {
        return failed(request, entry, reason_of(answer, limit));
      }
      if (answer.redirect.empty() || request.operation == Operation::put) {
        return reply_of(request, entry, std::move(answer));
      }
      auto next = WebAddress::parse(answer.redirect, Query::accepted);
      if (!next) {
        return failed(request, entry, "the server redirects to an address that is not followed");
      }
      if (!next->has_origin_of(entry)) {
        credentials = Credentials::withheld; // also if that server redirects back
      }
      address = std::move(*next);
    }
    return failed(request, entry, fmt::format("more than {} redirects", k_max_redirects));
  }

  Settings m_settings;
  std::string m_certificate_file;
  std::string m_certificate_folder;
  List m_headers;
  std::mutex m_mutex;
  std::vector<Handle> m_handles; // not in use; each keeps its connections open
};

} // namespace

Result<std::unique_ptr<HttpClient>> HttpClient::create(std::string_view settings) {
  CLBIN_TRY_ASSIGN(Settings parsed, parse_settings(settings));
  if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
    return fail(ErrorCode::internal, "cannot initialise libcurl");
  }
  auto client = std::make_unique<CurlClient>(std::move(parsed));
  CLBIN_TRY(client->prepare());
  return client;
}

} // namespace oclcc::storage_http
