#include "fake_storage.hpp"

#include <chrono>
#include <gmock/gmock.h>

namespace oclcc::remote {
namespace {

using clbin::base::as_bytes;
using clbin::base::as_text;
using clbin::base::digest_of;
using clbin::base::ErrorCode;
using clbin::base::Result;
using std::chrono::milliseconds;
using std::chrono::seconds;
using storage_http::k_max_entry_bytes;
using storage_http::Operation;
using storage_http::Status;
using ::testing::HasSubstr;

Clock::time_point soon() {
  return Clock::now() + milliseconds(200);
}
Clock::time_point late() {
  return Clock::now() + seconds(60);
}

Result<StorageReply> ask(FakeStorage& storage, Operation kind = Operation::get,
                         std::string_view entry = {}, Clock::time_point deadline = late()) {
  const WakeUp wake_up;
  auto client = StorageClient::connect(storage.path(), late(), wake_up);
  if (!client) {
    return tl::unexpected(client.error());
  }
  return client->request(kind, digest_of(as_bytes("key")), as_bytes(entry), deadline);
}

std::string failure_of(const std::string& reply, Operation kind = Operation::get) {
  FakeStorage storage([&](const FakeRequest&) { return reply; });
  const auto answer = ask(storage, kind);
  return answer ? "no failure" : answer.error().message;
}

TEST(StorageClient, FetchesAnEntry) {
  FakeStorage storage([](const FakeRequest&) { return reply_frame(Status::done, "the entry"); });
  const auto reply = ask(storage);
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->status, Status::done);
  EXPECT_EQ(as_text(reply->entry), "the entry");
  const auto requests = storage.requests();
  ASSERT_EQ(requests.size(), 1U);
  EXPECT_EQ(requests[0].kind, Operation::get);
  EXPECT_EQ(requests[0].key, digest_of(as_bytes("key")));
  EXPECT_GT(requests[0].milliseconds, 10'000U);
  EXPECT_LT(requests[0].milliseconds, 60'000U);
}

TEST(StorageClient, StoresAnEntryThatIsLargerThanTheBufferOfASocket) {
  FakeStorage storage([](const FakeRequest&) { return reply_frame(Status::done); });
  const std::string entry(8U << 20U, 'x');
  const auto reply = ask(storage, Operation::put, entry);
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(storage.requests().at(0).entry, entry);
}

TEST(StorageClient, FetchesAnEntryThatIsLargerThanTheBufferOfASocket) {
  const std::string entry(8U << 20U, 'x');
  FakeStorage storage([&](const FakeRequest&) { return reply_frame(Status::done, entry); });
  const auto reply = ask(storage);
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(as_text(reply->entry), entry);
}

TEST(StorageClient, SendsSeveralRequestsOverOneConnection) {
  FakeStorage storage([](const FakeRequest&) { return reply_frame(Status::absent); });
  const WakeUp wake_up;
  auto client = StorageClient::connect(storage.path(), late(), wake_up);
  ASSERT_TRUE(client);
  for (int i = 0; i < 3; ++i) {
    const auto reply = client->request(Operation::head, {}, {}, late());
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->status, Status::absent);
  }
  EXPECT_EQ(storage.count(Operation::head), 3U);
  EXPECT_EQ(storage.connection_count(), 1U);
}

TEST(StorageClient, RepeatsTheReasonOfAFailureWithoutItsControlCharacters) {
  EXPECT_EQ(failure_of(reply_frame(Status::failed, "the server \x1b[31manswered 500")),
            "the server ?[31manswered 500");
  EXPECT_EQ(failure_of(reply_frame(Status::failed)),
            "its helper process reports a failure without a reason");
  EXPECT_EQ(failure_of(reply_frame(Status::failed, std::string(100'000, 'x'))).size(), 300U);
}

TEST(StorageClient, RejectsWhatIsNotAReply) {
  EXPECT_EQ(failure_of(std::string(64, '\xff')),
            "its helper process announced a reply of 4294967295 bytes");
  EXPECT_EQ(failure_of(std::string("\x41\0\0\x04", 4)), // one byte more than a frame may have
            "its helper process announced a reply of 67108929 bytes");
  EXPECT_EQ(failure_of(std::string(4, '\0')), "its helper process announced a reply of 0 bytes");
  EXPECT_EQ(failure_of(reply_frame(static_cast<Status>(9))),
            "its helper process sent a reply that is not understood");
  EXPECT_EQ(failure_of(reply_frame(Status::absent, "text")),
            "its helper process sent a reply that is not understood");
  EXPECT_EQ(failure_of(reply_frame(Status::done, "text"), Operation::put),
            "its helper process sent a reply that is not understood");
}

TEST(StorageClient, ReportsAConnectionThatWasClosedBeforeAReplyAsAbsentHelper) {
  FakeStorage storage([](const FakeRequest&) { return std::string(); });
  const auto reply = ask(storage);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::file_not_found);
}

TEST(StorageClient, ReportsAReplyThatEndsEarly) {
  std::atomic<int> count = 0;
  FakeStorage storage([&](const FakeRequest&) {
    return count++ == 0 ? reply_frame(Status::done, "the entry").substr(0, 8) : std::string();
  });
  const WakeUp wake_up;
  auto client = StorageClient::connect(storage.path(), late(), wake_up);
  ASSERT_TRUE(client);
  const auto reply = client->request(Operation::get, {}, {}, soon());
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::file_read);
  EXPECT_EQ(reply.error().message, "no answer in time");
}

TEST(StorageClient, DoesNotWaitBeyondItsDeadline) {
  std::mutex until_the_end;
  until_the_end.lock();
  FakeStorage storage([&](const FakeRequest&) {
    const std::lock_guard wait(until_the_end);
    return std::string();
  });
  const auto reply = ask(storage, Operation::get, {}, soon());
  until_the_end.unlock();
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().message, "no answer in time");
}

TEST(StorageClient, DoesNotWaitBeyondItsDeadlineForTheGreeting) {
  FakeStorage storage([](const FakeRequest&) { return std::string(); }, "clbin");
  const WakeUp wake_up;
  const auto client = StorageClient::connect(storage.path(), soon(), wake_up);
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().message, "no answer in time");
}

TEST(StorageClient, StopsWaitingIfItIsWoken) {
  std::mutex until_the_end;
  until_the_end.lock();
  FakeStorage storage([&](const FakeRequest&) {
    const std::lock_guard wait(until_the_end);
    return std::string();
  });
  WakeUp wake_up;
  auto client = StorageClient::connect(storage.path(), late(), wake_up);
  ASSERT_TRUE(client);
  std::thread waker([&] { wake_up.wake(); });
  const auto reply = client->request(Operation::get, {}, {}, late());
  waker.join();
  until_the_end.unlock();
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().message, "the run ended first");
}

TEST(StorageClient, RejectsAnotherProtocol) {
  FakeStorage storage([](const FakeRequest&) { return std::string(); }, "clbin-storage 2\n");
  const WakeUp wake_up;
  const auto client = StorageClient::connect(storage.path(), late(), wake_up);
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().message, "its helper process speaks another protocol");
}

TEST(StorageClient, ReportsASocketWithoutAProcess) {
  const WakeUp wake_up;
  const auto client = StorageClient::connect("/nonexistent/socket", late(), wake_up);
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().code, ErrorCode::file_not_found);
  const auto other = StorageClient::connect("/" + std::string(200, 'x'), late(), wake_up);
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, HasSubstr("is too long"));
}

TEST(StorageClient, SendsNoEntryThatIsTooLong) {
  FakeStorage storage([](const FakeRequest&) { return reply_frame(Status::done); });
  const auto reply =
      ask(storage, Operation::put, std::string(std::size_t{k_max_entry_bytes} + 1, 'x'));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::limit_exceeded);
  EXPECT_EQ(storage.requests().size(), 0U);
}

} // namespace
} // namespace oclcc::remote
