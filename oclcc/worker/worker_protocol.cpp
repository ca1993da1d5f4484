#include "worker/worker_protocol.hpp"

#include "base/system/folder.hpp"

namespace oclcc::worker {

namespace {

constexpr std::size_t k_head_bytes = 12; // u32 kind, u64 length
struct Head {
  MessageKind kind;
  std::uint64_t length;
};

base::SocketResult<Head> parse_head(ByteView bytes) {
  base::ByteReader reader(bytes, "message");
  const auto kind = reader.read_u32("kind");
  const auto length = reader.read_u64("length");
  constexpr auto first = static_cast<std::uint32_t>(MessageKind::enumerate_request);
  constexpr auto last = static_cast<std::uint32_t>(MessageKind::warm_reply);
  if (!kind || !length || *kind < first || *kind > last || *length > k_max_message_bytes) {
    return tl::unexpected(base::SocketFault::garbage);
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

base::SocketResult<Message> receive_message(int socket, const Deadline& deadline) {
  CLBIN_TRY_ASSIGN(const Bytes head_bytes, base::receive_all(socket, k_head_bytes, deadline));
  CLBIN_TRY_ASSIGN(const Head head, parse_head(head_bytes));
  CLBIN_TRY_ASSIGN(Bytes body, base::receive_all(socket, head.length, deadline));
  return Message{head.kind, std::move(body)};
}

base::SocketResult<void> send_message(int socket, MessageKind kind, ByteView body,
                                      const Deadline& deadline) {
  base::ByteWriter head;
  head.write_u32(static_cast<std::uint32_t>(kind));
  head.write_u64(body.size());
  CLBIN_TRY(base::send_all(socket, head.view(), deadline));
  return base::send_all(socket, body, deadline);
}

KernelNote::KernelNote() {
  const auto folder = base::OpenFolder::open(".");
  auto file = folder.and_then(
      [](const base::OpenFolder& opened) { return opened.open_file(k_name, base::FileUse::lock); });
  if (file) {
    m_file = *std::move(file);
  }
}

void KernelNote::set(const std::string& kernel) {
  if (kernel.size() > k_max_kernel_name_bytes) {
    return;
  }
  // Written by one call, so that a name is never incomplete. The rest of a longer previous name
  // follows it.
  base::ByteWriter record;
  record.write_text(kernel);
  (void)base::write_from_start(m_file.number(), record.view());
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
template Bytes encode(const LaunchRequest&);
template Bytes encode(const LaunchReply&);
template Bytes encode(const WarmRequest&);
template Bytes encode(const WarmReply&);
template Bytes encode(const TuningProgress&);
template Result<EnumerateRequest> decode(ByteView);
template Result<EnumerateReply> decode(ByteView);
template Result<BuildRequest> decode(ByteView);
template Result<BuildReply> decode(ByteView);
template Result<LaunchRequest> decode(ByteView);
template Result<LaunchReply> decode(ByteView);
template Result<WarmRequest> decode(ByteView);
template Result<WarmReply> decode(ByteView);
template Result<TuningProgress> decode(ByteView);

} // namespace oclcc::worker
