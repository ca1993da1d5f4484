#include "worker/worker_protocol.hpp"

#include "model/record.hpp"

#include <type_traits>

namespace oclcc::worker {

using clbin::base::ByteReader;
using clbin::base::Bytes;
using clbin::base::ByteView;
using clbin::base::ByteWriter;
using clbin::base::ErrorCode;
using clbin::base::fail;
using clbin::base::Result;
using clbin::format::Number;
using clbin::format::Record;

namespace {

class MessageWriter : public clbin::format::RecordWriter<MessageWriter> {
public:
  void put(std::uint64_t number) { m_bytes.write_u64(number); }
  void put(ByteView bytes) { m_bytes.write_bytes(bytes); }
  [[nodiscard]] Bytes take() && { return std::move(m_bytes).take(); }

private:
  ByteWriter m_bytes;
};

// Reads what MessageWriter writes. `name` is the name of the member in messages.
class MessageReader {
public:
  explicit MessageReader(ByteView bytes) : m_bytes(bytes, "message") {}

  template <Number Value>
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
    text = clbin::base::as_text(bytes);
    return {};
  }

  Result<void> read(std::string_view name, Bytes& bytes) {
    CLBIN_TRY_ASSIGN(const ByteView view, read_bytes(name));
    bytes.assign(view.begin(), view.end());
    return {};
  }

  Result<void> read(std::string_view name, GroupSize& size) {
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

  Result<void> read(std::string_view /*name*/, Record auto& record) {
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

  ByteReader m_bytes;
};

} // namespace

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
