#include "worker/worker_protocol.hpp"

#include <cerrno>
#include <fcntl.h>
#include <limits>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace oclcc::worker {

using base::Bytes;
using base::ByteView;

namespace {

constexpr std::size_t k_head_bytes = 12; // u32 kind, u64 length
constexpr std::size_t k_chunk_bytes = 1U << 20U;

int poll_timeout(const Deadline& deadline) noexcept {
  if (!deadline) {
    return -1;
  }
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(*deadline - std::chrono::steady_clock::now());
  return static_cast<int>(
      std::clamp<std::int64_t>(left.count(), 0, std::numeric_limits<int>::max()));
}

tl::expected<void, ChannelFault> wait_until_ready(int socket, short events,
                                                  const Deadline& deadline) {
  for (;;) {
    pollfd waiting{socket, events, 0};
    const int ready = ::poll(&waiting, 1, poll_timeout(deadline));
    if (ready > 0) {
      return {};
    }
    if (ready == 0) {
      return tl::unexpected(ChannelFault::timed_out);
    }
    if (errno != EINTR) {
      return tl::unexpected(ChannelFault::system);
    }
  }
}

// `transfer` receives or sends a part of the bytes, and returns its size.
template <typename Byte, typename Transfer>
tl::expected<void, ChannelFault> transfer_all(int socket, std::span<Byte> bytes, short events,
                                              const Deadline& deadline, const Transfer& transfer) {
  while (!bytes.empty()) {
    CLBIN_TRY(wait_until_ready(socket, events, deadline));
    const ssize_t count = transfer(bytes);
    if (count == 0 && events == POLLIN) {
      return tl::unexpected(ChannelFault::closed);
    }
    if (count >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    } else if (errno != EINTR && errno != EAGAIN) {
      return tl::unexpected(errno == EPIPE || errno == ECONNRESET ? ChannelFault::closed
                                                                  : ChannelFault::system);
    }
  }
  return {};
}

tl::expected<void, ChannelFault> receive_exactly(int socket, std::span<std::byte> bytes,
                                                 const Deadline& deadline) {
  return transfer_all(socket, bytes, POLLIN, deadline, [socket](std::span<std::byte> rest) {
    return ::recv(socket, rest.data(), rest.size(), MSG_DONTWAIT);
  });
}

tl::expected<void, ChannelFault> send_exactly(int socket, ByteView bytes,
                                              const Deadline& deadline) {
  return transfer_all(socket, bytes, POLLOUT, deadline, [socket](ByteView rest) {
    return ::send(socket, rest.data(), rest.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  });
}

struct Head {
  MessageKind kind;
  std::uint64_t length;
};

tl::expected<Head, ChannelFault> parse_head(ByteView bytes) {
  base::ByteReader reader(bytes, "message");
  const auto kind = reader.read_u32("kind");
  const auto length = reader.read_u64("length");
  constexpr auto first = static_cast<std::uint32_t>(MessageKind::enumerate_request);
  constexpr auto last = static_cast<std::uint32_t>(MessageKind::settled);
  if (!kind || !length || *kind < first || *kind > last || *length > k_max_message_bytes) {
    return tl::unexpected(ChannelFault::garbage);
  }
  return Head{static_cast<MessageKind>(*kind), *length};
}

constexpr const char* k_name = "kernel";
constexpr std::uint64_t k_max_kernel_name_bytes = 65535;
constexpr std::uint64_t k_max_file_bytes = 1ULL << 20U;

class MessageWriter : public format::RecordWriter<MessageWriter> {
public:
  void put(std::uint64_t number) { m_bytes.write_u64(number); }
  void put(ByteView bytes) { m_bytes.write_bytes(bytes); }
  [[nodiscard]] Bytes take() && { return std::move(m_bytes).take(); }

private:
  base::ByteWriter m_bytes;
};

// Reads what MessageWriter writes. `name` is the name of the member in messages.
class MessageReader {
public:
  explicit MessageReader(ByteView bytes) : m_bytes(bytes, "message") {}

  template <format::Number Value>
  Result<void> read(std::string_view name, Value& value) {
    CLBIN_TRY_ASSIGN(const std::uint64_t bits, m_bytes.read_u64(name));
    value = static_cast<Value>(bits);
    bool is_valid = static_cast<std::uint64_t>(value) == bits;
    if constexpr (std::is_enum_v<Value>) {
      is_valid = is_valid && bits < names_of(value).size();
    }
    if (!is_valid) {
      return fail(ErrorCode::damaged, "{} is {}, which is not a valid value", name, bits);
    }
    return {};
  }

  Result<void> read(std::string_view name, std::string& text) {
    CLBIN_TRY_ASSIGN(const ByteView bytes, read_bytes(name));
    text = base::as_text(bytes);
    return {};
  }

  Result<void> read(std::string_view name, Bytes& bytes) {
    CLBIN_TRY_ASSIGN(const ByteView view, read_bytes(name));
    bytes.assign(view.begin(), view.end());
    return {};
  }

  Result<void> read(std::string_view name, format::GroupSize& size) {
    for (std::uint64_t& items : size) {
      CLBIN_TRY(read(name, items));
    }
    return {};
  }

  template <typename First, typename Second>
  Result<void> read(std::string_view name, std::pair<First, Second>& pair) {
    CLBIN_TRY(read(name, pair.first));
    return read(name, pair.second);
  }

  template <typename Value>
  Result<void> read(std::string_view name, std::optional<Value>& value) {
    bool is_present = false;
    CLBIN_TRY(read(name, is_present));
    return is_present ? read(name, value.emplace()) : Result<void>();
  }

  template <typename Item>
  Result<void> read(std::string_view name, std::vector<Item>& items) {
    CLBIN_TRY_ASSIGN(const std::uint64_t count, m_bytes.read_u64(name));
    // Every item has at least one byte, so that no count causes an allocation larger than the
    // message.
    if (count > m_bytes.remaining()) {
      return fail(ErrorCode::truncated, "count of {} is {}, but {} bytes are left", name, count,
                  m_bytes.remaining());
    }
    for (std::uint64_t i = 0; i < count; ++i) {
      CLBIN_TRY(read(name, items.emplace_back()));
    }
    return {};
  }

  template <typename Value>
  Result<void> read(std::string_view name, std::map<std::string, Value>& values) {
    std::vector<std::pair<std::string, Value>> items;
    CLBIN_TRY(read(name, items));
    values = {items.begin(), items.end()};
    return {};
  }

  Result<void> read(std::string_view /*name*/, format::Record auto& record) {
    Result<void> status;
    visit(record, [&](std::string_view name, auto& value) {
      if (status) {
        status = read(name, value);
      }
    });
    return status;
  }

  [[nodiscard]] Result<void> require_end() const { return m_bytes.require_end(); }

private:
  Result<ByteView> read_bytes(std::string_view name) {
    CLBIN_TRY_ASSIGN(const std::uint64_t size_bytes, m_bytes.read_u64(name));
    return m_bytes.read_bytes(size_bytes, name);
  }

  base::ByteReader m_bytes;
};

} // namespace

bool wait_for_message(int socket, const Deadline& deadline) {
  return wait_until_ready(socket, POLLIN, deadline).has_value();
}

tl::expected<Message, ChannelFault> receive_message(int socket, const Deadline& deadline) {
  Bytes head_bytes(k_head_bytes);
  CLBIN_TRY(receive_exactly(socket, head_bytes, deadline));
  CLBIN_TRY_ASSIGN(const Head head, parse_head(head_bytes));
  Message message{head.kind, {}};
  while (message.body.size() < head.length) {
    const std::size_t start = message.body.size();
    const auto chunk =
        static_cast<std::size_t>(std::min<std::uint64_t>(head.length - start, k_chunk_bytes));
    message.body.resize(start + chunk);
    CLBIN_TRY(receive_exactly(socket, std::span(message.body).subspan(start), deadline));
  }
  return message;
}

tl::expected<void, ChannelFault> send_message(int socket, MessageKind kind, ByteView body,
                                              const Deadline& deadline) {
  base::ByteWriter head;
  head.write_u32(static_cast<std::uint32_t>(kind));
  head.write_u64(body.size());
  CLBIN_TRY(send_exactly(socket, head.view(), deadline));
  return send_exactly(socket, body, deadline);
}

KernelNote::KernelNote() : m_file(::open(k_name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600)) {}

void KernelNote::set(const std::string& kernel) {
  if (kernel.size() > k_max_kernel_name_bytes) {
    return;
  }
  // Writes with one call, so that a name is never incomplete. The rest of a longer previous name
  // follows it.
  base::ByteWriter record;
  record.write_text(kernel);
  [[maybe_unused]] const ssize_t written =
      ::pwrite(m_file.number(), record.view().data(), record.size(), 0);
}

void KernelNote::clear() {
  set({});
}

std::optional<std::string> read_kernel_note(const std::filesystem::path& folder) {
  const auto file = base::read_whole_file(folder / k_name, k_max_file_bytes);
  if (!file) {
    return std::nullopt;
  }
  base::ByteReader reader(*file, "kernel note");
  const auto name = reader.read_text("name");
  return name && !name->empty() ? std::optional<std::string>(*name) : std::nullopt;
}

template <typename Message>
Bytes encode(const Message& message) {
  MessageWriter writer;
  writer.write(message);
  return std::move(writer).take();
}

template <typename Message>
Result<Message> decode(ByteView bytes) {
  MessageReader reader(bytes);
  Message message;
  CLBIN_TRY(reader.read("message", message));
  CLBIN_TRY(reader.require_end());
  return message;
}

template Bytes encode(const EnumerateRequest&);
template Bytes encode(const EnumerateReply&);
template Bytes encode(const BuildRequest&);
template Bytes encode(const BuildReply&);
template Result<EnumerateRequest> decode(ByteView);
template Result<EnumerateReply> decode(ByteView);
template Result<BuildRequest> decode(ByteView);
template Result<BuildReply> decode(ByteView);

} // namespace oclcc::worker
