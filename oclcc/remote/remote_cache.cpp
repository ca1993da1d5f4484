#include "remote/remote_cache.hpp"

#include "base/system/process.hpp"

#include <new>
#include <system_error>

namespace oclcc::remote {

using base::Digest;
using storage_http::k_max_entry_bytes;
using storage_http::Operation;
using storage_http::Status;

namespace {

constexpr std::chrono::milliseconds k_free_of_a_miss{50};
constexpr std::chrono::milliseconds k_free_of_a_hit{200};
constexpr std::size_t k_free_bytes_per_ms = 1024;

constexpr std::string_view k_no_memory = "out of memory";
constexpr std::size_t k_most_connections = 8;
constexpr std::size_t k_storing_threads = 8;                     // they wait for the network
constexpr std::uint64_t k_max_waiting_bytes = k_max_entry_bytes; // of results not stored yet
constexpr std::size_t k_stored_bytes_per_ms = 1024;              // at least, or the server hangs
constexpr const char* k_too_slow = "not looked up: the server is slow";

// Returns false if the system has no further thread.
bool start_thread(std::vector<std::jthread>& threads, std::function<void()> work) {
  try {
    threads.emplace_back(std::move(work));
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

} // namespace

Clock::duration free_time(RequestEnd end, std::size_t size_bytes) {
  return end == RequestEnd::no_hit
             ? k_free_of_a_miss
             : k_free_of_a_hit + std::chrono::milliseconds(size_bytes / k_free_bytes_per_ms);
}

// The requests of one thread, over one connection.
class RemoteCache::Requests {
public:
  explicit Requests(const RemoteCache& cache) : m_cache(cache) {}

  // Connects first if necessary, and once again if the helper has ended meanwhile.
  [[nodiscard]] Result<StorageReply> send(Operation kind, const Digest& key, base::ByteView entry,
                                          Clock::time_point deadline) {
    const auto begin = m_cache.m_budget.now();
    const bool is_new = !m_client.has_value();
    auto reply = send_once(kind, key, entry, deadline);
    if (!reply && !is_new && reply.error().code == ErrorCode::file_not_found) {
      reply = send_once(kind, key, entry, deadline);
    }
    m_waited += m_cache.m_budget.now() - begin;
    return reply;
  }
  // Returns how long send() has taken in all.
  [[nodiscard]] Clock::duration waited() const noexcept { return m_waited; }

private:
  [[nodiscard]] Result<StorageReply> send_once(Operation kind, const Digest& key,
                                               base::ByteView entry, Clock::time_point deadline) {
    if (!m_client) {
      CLBIN_TRY_ASSIGN(StorageClient client, m_cache.m_connect(deadline, m_cache.m_wake_up));
      m_client.emplace(std::move(client));
    }
    auto reply = m_client->request(kind, key, entry, deadline);
    if (!reply) {
      m_client.reset();
    }
    return reply;
  }

  const RemoteCache& m_cache;
  std::optional<StorageClient> m_client;
  Clock::duration m_waited{};
};

RemoteCache::RemoteCache(RemoteMode mode, std::chrono::milliseconds timeout, RemoteTrust trust,
                         ConnectStorage connect, std::function<Clock::time_point()> now)
    : m_mode(mode), m_timeout(timeout), m_trust(std::move(trust)), m_connect(std::move(connect)),
      m_budget(timeout, std::move(now)) {}

RemoteCache::~RemoteCache() {
  end(std::chrono::milliseconds::zero());
}

void RemoteCache::turn_off(const std::string& reason, const std::string& advice) {
  const std::lock_guard lock(m_mutex);
  if (!m_is_off.exchange(true)) {
    m_warning =
        fmt::format("remote cache: {}; it is not used for the rest of this run{}", reason, advice);
  }
  // Last, because finish() reports a timeout if no time is left and no warning is set.
  m_budget.exhaust();
}

Result<clbin::cache::CacheHit> RemoteCache::read_entry(const CacheUnit& unit, Bytes bytes) const {
  const std::string name = fmt::format("remote entry {}", base::to_hex(*unit.remote_key));
  clbin::cache::EntryRequirements required;
  required.limits.max_raw_bytes = k_max_entry_bytes; // offer() stores nothing that is larger
  required.limits.max_total_raw_bytes = 4ULL * k_max_entry_bytes;
  required.signatures = m_trust.required ? &*m_trust.required : nullptr;
  CLBIN_TRY_ASSIGN(auto read, base::in_context(clbin::cache::open_entry(std::move(bytes), name,
                                                                        *unit.remote_key, required),
                                               name));
  CLBIN_TRY(base::in_context(read.bundle.verify(), name));
  if (read.entry.target.digest != format::target_digest(unit.target)) {
    return fail(ErrorCode::damaged, "{}: it is for another target", name);
  }
  if (read.entry.options != unit.options) {
    return fail(ErrorCode::damaged, "{}: it was built with other options", name);
  }
  return read;
}

CacheAnswer RemoteCache::failed_look_up(const std::string& reason) {
  turn_off(reason);
  return {std::nullopt, "miss: it failed"};
}

CacheAnswer RemoteCache::fetch_one(const CacheUnit& unit, Requests& requests) try {
  if (is_off()) {
    return {std::nullopt, "off"};
  }
  if (!unit.remote_key) {
    return {std::nullopt, "not used: a file of the compiler cannot be read"};
  }
  if (!m_budget.allows_look_up()) {
    return {std::nullopt, k_too_slow};
  }
  const auto deadline = Clock::now() + m_budget.left();
  auto reply = requests.send(Operation::get, *unit.remote_key, {}, deadline);
  if (!reply) {
    return failed_look_up(reply.error().message);
  }
  if (reply->status == Status::refused) {
    return failed_look_up("its helper process refuses to read");
  }
  if (reply->status == Status::absent) {
    m_budget.grant(free_time(RequestEnd::no_hit, 0));
    return {std::nullopt, "miss"};
  }
  m_budget.grant(free_time(RequestEnd::hit, reply->entry.size()));
  auto hit = read_entry(unit, std::move(reply->entry));
  if (!hit) {
    turn_off(hit.error().message,
             fmt::format("; remove ac/{} from the server", base::to_hex(*unit.remote_key)));
    return {std::nullopt, "miss: its entry is not valid"};
  }
  return {result_of(*std::move(hit)), "hit"};
} catch (const std::bad_alloc&) { // which a server can cause
  return failed_look_up(std::string(k_no_memory));
}

void RemoteCache::fetch(
    const std::vector<const CacheUnit*>& units,
    const std::function<void(std::size_t unit, CacheAnswer answer)>& on_answer) {
  const std::size_t connections = std::min(units.size(), k_most_connections);
  std::atomic<std::size_t> next = 0;
  std::mutex answering;
  const auto work = [&] {
    Requests requests(*this);
    for (std::size_t unit = next++; unit < units.size(); unit = next++) {
      const auto begin = m_budget.now();
      const auto waited = requests.waited();
      CacheAnswer answer = fetch_one(*units[unit], requests);
      {
        const std::lock_guard lock(answering);
        on_answer(unit, std::move(answer));
      }
      m_budget.grant(m_budget.now() - begin - (requests.waited() - waited)); // own work
    }
  };
  m_budget.begin(connections);
  std::vector<std::jthread> threads;
  bool is_started = true;
  for (std::size_t i = 1; i < connections && is_started; ++i) {
    is_started = start_thread(threads, work);
  }
  work();
  threads.clear();
  m_budget.end();
}

void RemoteCache::offer(const CacheUnit& unit, format::EntryInput entry) {
  if (m_mode == RemoteMode::read_only || is_off() || !unit.remote_key) {
    return;
  }
  const std::uint64_t size_bytes = entry.payload.size_bytes();
  {
    const std::lock_guard lock(m_mutex);
    if (m_is_closed || size_bytes > k_max_waiting_bytes - m_offered_bytes) {
      return; // the server is slower than the compilers, and must not delay them
    }
    if (m_threads.size() < k_storing_threads) {
      (void)start_thread(m_threads, [this] { store_offers(); });
    }
    if (m_threads.empty()) {
      return;
    }
    m_offered_bytes += size_bytes;
    m_offers.push_back({*unit.remote_key, unit.program, std::move(entry)});
  }
  m_changed.notify_all();
}

std::optional<RemoteCache::Offer> RemoteCache::next_offer() {
  std::unique_lock lock(m_mutex);
  m_changed.wait(lock, [this] { return m_is_closed || !m_offers.empty(); });
  if (m_offers.empty()) {
    return std::nullopt;
  }
  Offer offer = std::move(m_offers.front());
  m_offers.pop_front();
  ++m_storing;
  return offer;
}

void RemoteCache::store_offers() {
  Requests requests(*this);
  while (auto offer = next_offer()) {
    const std::uint64_t size_bytes = offer->entry.payload.size_bytes();
    if (!is_off()) {
      store(*std::move(offer), requests);
    }
    {
      const std::lock_guard lock(m_mutex);
      --m_storing;
      m_offered_bytes -= size_bytes;
    }
    m_changed.notify_all();
  }
}

Result<Bytes> RemoteCache::write_entry(Offer offer) const {
  CLBIN_TRY_ASSIGN(Bytes bytes,
                   clbin::cache::encode_entry(offer.key, offer.program, std::move(offer.entry),
                                              format::compress_alone));
  if (m_trust.signer == nullptr) {
    return bytes;
  }
  CLBIN_TRY_ASSIGN(const auto bundle, format::BundleReader::open(base::memory_source(bytes), {},
                                                                 format::TrailingBytes::refuse));
  return format::with_trailing_records(
      bytes,
      {format::to_trailing_record(format::sign_root(bundle.root_digest(), *m_trust.signer))});
}

void RemoteCache::store(Offer offer, Requests& requests) try {
  const Digest key = offer.key;
  const auto bytes = write_entry(std::move(offer));
  if (!bytes) {
    turn_off(bytes.error().message);
    return;
  }
  if (bytes->size() > k_max_entry_bytes) {
    return; // not shared
  }
  // Builds do not wait for it, and finish() ends it: the time that look-ups used does not count.
  const auto deadline =
      Clock::now() + m_timeout + std::chrono::milliseconds(bytes->size() / k_stored_bytes_per_ms);
  const auto reply = requests.send(Operation::put, key, *bytes, deadline);
  if (!reply) {
    turn_off(reply.error().message);
  } else if (reply->status != Status::done) {
    turn_off("its helper process refuses to store");
  }
} catch (const std::bad_alloc&) {
  turn_off(std::string(k_no_memory));
}

void RemoteCache::end(std::chrono::milliseconds patience) {
  std::size_t left = 0;
  {
    std::unique_lock lock(m_mutex);
    m_is_closed = true;
    m_changed.notify_all();
    m_changed.wait_for(lock, patience, [this] { return m_offers.empty() && m_storing == 0; });
    left = m_offers.size() + m_storing;
    m_offers.clear();
  }
  if (left != 0 && patience != std::chrono::milliseconds::zero()) { // else nobody reads it
    turn_off(fmt::format("the server has not confirmed {} result{} in time", left,
                         left == 1 ? "" : "s"));
  }
  m_wake_up.wake();
  m_threads.clear();
}

std::string RemoteCache::take_warning() {
  const std::lock_guard lock(m_mutex);
  return std::exchange(m_warning, {});
}

Result<std::unique_ptr<RemoteCache>>
open_remote_cache(const RemoteSettings& settings, RemoteTrust trust,
                  const clbin::cache::ProcessEnvironment& environment) {
  const auto program =
      find_storage_helper(base::program_file(), environment.variable("PATH").value_or(""));
  if (!program) {
    return fail(ErrorCode::file_not_found, "there is no program '{}' beside oclcc",
                k_storage_program);
  }
  CLBIN_TRY_ASSIGN(const auto folder, storage_folder(environment));
  auto helper = std::make_shared<StorageHelper>(settings, *program, folder, environment);
  return std::make_unique<RemoteCache>(settings.mode, settings.timeout, std::move(trust),
                                       [helper](Clock::time_point deadline, const WakeUp& wake_up) {
                                         return helper->connect(deadline, wake_up);
                                       });
}

} // namespace oclcc::remote
