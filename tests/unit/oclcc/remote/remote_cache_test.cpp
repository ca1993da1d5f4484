#include "fake_storage.hpp"

#include "base/crypto/content_key.hpp"
#include "base/crypto/ed25519.hpp"
#include "base/crypto/key_text.hpp"
#include "format/bundle/bundle_writer.hpp"
#include "format/bundle/encryption.hpp"
#include "format/bundle/signatures.hpp"
#include "remote/remote_cache.hpp"

#include <fstream>
#include <gmock/gmock.h>
#include <map>

namespace oclcc::remote {
namespace {

using clbin::base::as_bytes;
using clbin::base::as_text;
using clbin::base::Bytes;
using clbin::base::Digest;
using clbin::base::digest_of;
using clbin::base::SecretKey;
using clbin::format::EntryInput;
using storage_http::k_max_entry_bytes;
using storage_http::Operation;
using storage_http::Status;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::chrono::milliseconds k_long{60'000}; // no test waits for it

clbin::format::Target target_of(const std::string& spec) {
  clbin::format::Target target;
  target.origin = clbin::format::TargetOrigin::offline;
  target.spec = spec;
  return target;
}

CacheUnit unit_of(const std::string& name) {
  CacheUnit unit;
  unit.program = name;
  unit.options = "-DN=1";
  unit.target = target_of("nvptx:sm_70");
  unit.remote_key = digest_of(as_bytes("key of " + name));
  return unit;
}

EntryInput entry_of(const CacheUnit& unit) {
  EntryInput entry;
  entry.target = unit.target;
  entry.options = unit.options;
  const auto binary = as_bytes("\x7f"
                               "binary of a program");
  entry.payload = Bytes(binary.begin(), binary.end());
  entry.build_log = "the log";
  return entry;
}

std::string object_of(const CacheUnit& unit) {
  const auto bytes =
      clbin::cache::encode_entry(*unit.remote_key, unit.program, entry_of(unit), nullptr);
  return std::string(as_text(bytes.value()));
}

// The bundle of an entry of `unit`, as whoever can write to the server may make it.
clbin::format::BundleInput bundle_of(const CacheUnit& unit, std::vector<EntryInput> entries) {
  clbin::format::ProgramInput program;
  program.name = unit.program;
  const std::string variant = clbin::base::to_hex(*unit.remote_key);
  program.variants.push_back({variant, unit.options});
  for (EntryInput& entry : entries) {
    entry.variant = variant;
    program.entries.push_back(std::move(entry));
  }
  clbin::format::BundleInput bundle;
  bundle.programs.push_back(std::move(program));
  return bundle;
}

std::string object_of(const clbin::format::BundleInput& bundle,
                      const clbin::format::WriteOptions& options = {.compression_level = 3}) {
  return std::string(as_text(clbin::format::write_bundle(bundle, options).value()));
}

std::string signed_by(const std::string& object, const SecretKey& key) {
  const auto bundle = clbin::format::BundleReader::open(
      clbin::base::memory_source(as_bytes(object)), {}, clbin::format::TrailingBytes::refuse);
  const auto bytes = clbin::format::with_trailing_records(
      as_bytes(object),
      {clbin::format::to_trailing_record(clbin::format::sign_root(bundle->root_digest(), key))});
  return std::string(as_text(bytes.value()));
}

struct Fetched {
  std::vector<std::string> notes;
  std::vector<std::string> binaries; // empty after a miss
  std::string warning;
};

class RemoteCacheTest : public ::testing::Test {
protected:
  RemoteCacheTest() : m_storage([this](const FakeRequest& request) { return m_reply(request); }) {}

  [[nodiscard]] std::unique_ptr<RemoteCache> open(RemoteMode mode = RemoteMode::read_write) {
    return std::make_unique<RemoteCache>(
        mode, m_timeout, m_trust,
        [this](Clock::time_point deadline, const WakeUp& wake_up) {
          return StorageClient::connect(m_storage.path(), deadline, wake_up);
        },
        m_now);
  }

  Fetched fetch(const std::vector<CacheUnit>& units) {
    const auto cache = open();
    return fetch_from(*cache, units);
  }
  static Fetched fetch_from(RemoteCache& cache, const std::vector<CacheUnit>& units) {
    std::vector<const CacheUnit*> pointers;
    for (const CacheUnit& unit : units) {
      pointers.push_back(&unit);
    }
    Fetched fetched;
    fetched.notes.resize(units.size());
    fetched.binaries.resize(units.size());
    cache.fetch(pointers, [&](std::size_t unit, CacheAnswer answer) {
      fetched.notes[unit] = answer.note;
      if (answer.result) {
        fetched.binaries[unit] = std::string(as_text(answer.result->reply->binary));
      }
    });
    fetched.warning = cache.take_warning();
    EXPECT_EQ(cache.take_warning(), "");
    return fetched;
  }

  // Every request for an entry is answered with `object`.
  Fetched fetch_object(const std::string& object) {
    m_reply = [object](const FakeRequest&) { return reply_frame(Status::done, object); };
    return fetch({unit_of("a")});
  }
  // Expects a miss, one warning, and no further request of the run.
  void expect_fault(const std::string& object, const std::string& reason) {
    m_reply = [object](const FakeRequest&) { return reply_frame(Status::done, object); };
    const auto cache = open();
    const Fetched fetched = fetch_from(*cache, {unit_of("a")});
    EXPECT_THAT(fetched.binaries, ElementsAre(""));
    EXPECT_THAT(fetched.notes, ElementsAre("miss: its entry is not valid"));
    const std::string key = clbin::base::to_hex(*unit_of("a").remote_key);
    EXPECT_THAT(fetched.warning, AllOf(HasSubstr("remote cache: "), HasSubstr(reason),
                                       HasSubstr("; it is not used for the rest of this run; "),
                                       // the entry, as the server names it
                                       HasSubstr("remove ac/" + key + " from the server")));
    const std::size_t before = m_storage.requests().size();
    EXPECT_THAT(fetch_from(*cache, {unit_of("b")}).notes, ElementsAre("off"));
    cache->offer(unit_of("b"), entry_of(unit_of("b")));
    cache->finish();
    EXPECT_EQ(m_storage.requests().size(), before);
    EXPECT_EQ(cache->take_warning(), "");
  }

  std::chrono::milliseconds m_timeout = k_long;
  std::mutex m_until_the_end; // outlives threads of m_storage, which wait for it
  std::function<Clock::time_point()> m_now = Clock::now; // of the time budget
  RemoteTrust m_trust;
  FakeStorage::Reply m_reply = [](const FakeRequest&) { return reply_frame(Status::absent); };
  FakeStorage m_storage; // the last member: its threads use the others
};

// --- look-ups -----------------------------------------------------------------------------------

TEST_F(RemoteCacheTest, SuppliesAnEntryThatAnotherMachineStored) {
  const Fetched fetched = fetch_object(object_of(unit_of("a")));
  EXPECT_THAT(fetched.notes, ElementsAre("hit"));
  EXPECT_THAT(fetched.binaries, ElementsAre("\x7f"
                                            "binary of a program"));
  EXPECT_EQ(fetched.warning, "");
  EXPECT_EQ(m_storage.requests().at(0).key, *unit_of("a").remote_key);
}

TEST_F(RemoteCacheTest, MissesWhatTheServerDoesNotHave) {
  const Fetched fetched = fetch({unit_of("a"), unit_of("b")});
  EXPECT_THAT(fetched.notes, ElementsAre("miss", "miss"));
  EXPECT_EQ(fetched.warning, "");
}

TEST_F(RemoteCacheTest, LooksUpManyUnitsOverAtMostEightConnections) {
  std::vector<CacheUnit> units;
  for (int i = 0; i < 200; ++i) {
    units.push_back(unit_of(std::to_string(i)));
  }
  m_reply = [&](const FakeRequest& request) {
    for (const CacheUnit& unit : units) {
      if (*unit.remote_key == request.key) {
        return reply_frame(Status::done, object_of(unit));
      }
    }
    return reply_frame(Status::absent);
  };
  const Fetched fetched = fetch(units);
  EXPECT_THAT(fetched.notes, AllOf(SizeIs(200), Each("hit")));
  EXPECT_EQ(m_storage.count(Operation::get), 200U);
  EXPECT_LE(m_storage.connection_count(), 8U);
}

TEST_F(RemoteCacheTest, AsksNothingAboutAUnitWithoutAKey) {
  CacheUnit unit = unit_of("a");
  unit.remote_key.reset();
  EXPECT_THAT(fetch({unit}).notes, ElementsAre("not used: a file of the compiler cannot be read"));
  EXPECT_THAT(m_storage.requests(), IsEmpty());
}

TEST_F(RemoteCacheTest, ConnectsAgainToAHelperThatEndedWhileItWasIdle) {
  std::mutex mutex;
  std::map<std::thread::id, int> counts; // by connection: each answers once, and closes then
  m_reply = [&](const FakeRequest&) {
    const std::lock_guard lock(mutex);
    return ++counts[std::this_thread::get_id()] == 1 ? reply_frame(Status::absent) : std::string();
  };
  std::vector<CacheUnit> units;
  for (int i = 0; i < 50; ++i) {
    units.push_back(unit_of(std::to_string(i)));
  }
  const Fetched fetched = fetch(units);
  EXPECT_THAT(fetched.notes, Each("miss"));
  EXPECT_EQ(fetched.warning, "");
  EXPECT_GE(m_storage.connection_count(), 50U);
}

// --- entries that do not count ------------------------------------------------------------------

TEST_F(RemoteCacheTest, RefusesTheEntryOfAnotherUnit) {
  expect_fault(object_of(unit_of("b")), "an entry with another key");
}

TEST_F(RemoteCacheTest, RefusesAnEntryForAnotherTarget) {
  CacheUnit other = unit_of("a");
  other.target = target_of("nvptx:sm_90");
  expect_fault(object_of(other), "it is for another target");
}

TEST_F(RemoteCacheTest, RefusesAnEntryWithOtherOptions) {
  CacheUnit other = unit_of("a");
  other.options = "-DN=2";
  expect_fault(object_of(other), "it was built with other options");
}

TEST_F(RemoteCacheTest, RefusesWhatIsNoEntry) {
  expect_fault("<html>404 not found</html>", "remote entry ");
  EXPECT_THAT(fetch_object("").warning, HasSubstr("remote entry "));
}

TEST_F(RemoteCacheTest, RefusesAnEntryWithAnyByteChanged) {
  const std::string object = object_of(unit_of("a"));
  for (std::size_t byte = 0; byte < object.size(); byte += 7) {
    std::string damaged = object;
    damaged[byte] = static_cast<char>(damaged[byte] ^ 0x10);
    EXPECT_THAT(fetch_object(damaged).binaries, ElementsAre("")) << byte;
  }
}

TEST_F(RemoteCacheTest, RefusesAnEntryThatEndsEarlyOrGoesOn) {
  const std::string object = object_of(unit_of("a"));
  for (const std::size_t size : {std::size_t{1}, object.size() / 2, object.size() - 1}) {
    EXPECT_THAT(fetch_object(object.substr(0, size)).binaries, ElementsAre("")) << size;
  }
  EXPECT_THAT(fetch_object(object + "more").binaries, ElementsAre(""));
}

TEST_F(RemoteCacheTest, RefusesAnEntryOfSeveralBinaries) {
  const CacheUnit unit = unit_of("a");
  EntryInput other = entry_of(unit);
  other.target = target_of("spirv:1.2");
  expect_fault(object_of(bundle_of(unit, {entry_of(unit), other})), "not a cache entry");
}

TEST_F(RemoteCacheTest, RefusesAnEntryOfSeveralPrograms) {
  const CacheUnit unit = unit_of("a");
  auto bundle = bundle_of(unit, {entry_of(unit)});
  bundle.programs.push_back(bundle_of(unit_of("b"), {entry_of(unit_of("b"))}).programs.front());
  expect_fault(object_of(bundle), "not a cache entry");
}

TEST_F(RemoteCacheTest, RefusesIntermediateCodeInPlaceOfABinary) {
  const CacheUnit unit = unit_of("a");
  EntryInput code = entry_of(unit);
  code.target = target_of("spirv:1.2");
  expect_fault(object_of(bundle_of(unit, {code})), "it is for another target");
}

TEST_F(RemoteCacheTest, RefusesAnEncryptedEntry) {
  const CacheUnit unit = unit_of("a");
  clbin::format::WriteOptions options{.compression_level = 3};
  options.encryption = clbin::format::encryption_with(clbin::base::ContentKey::generate());
  expect_fault(object_of(bundle_of(unit, {entry_of(unit)}), options), "encrypted");
}

// 65 MiB in a few kilobytes.
TEST_F(RemoteCacheTest, RefusesABinaryThatIsLargerThanAnEntryAfterDecompression) {
  const CacheUnit unit = unit_of("a");
  EntryInput bomb = entry_of(unit);
  bomb.payload = Bytes(k_max_entry_bytes + 1);
  const std::string object = object_of(bundle_of(unit, {bomb}));
  ASSERT_LT(object.size(), 1U << 20U);
  expect_fault(object, "limit");
}

// --- signatures ---------------------------------------------------------------------------------

class SignedRemoteCacheTest : public RemoteCacheTest {
protected:
  SignedRemoteCacheTest() {
    m_trust.required.emplace();
    m_trust.required->keys.push_back(m_key.public_key());
  }
  SecretKey m_key = SecretKey::generate();
};

TEST_F(SignedRemoteCacheTest, SuppliesAnEntryThatATrustedKeyHasSigned) {
  const Fetched fetched = fetch_object(signed_by(object_of(unit_of("a")), m_key));
  EXPECT_THAT(fetched.notes, ElementsAre("hit"));
  EXPECT_EQ(fetched.warning, "");
}

TEST_F(SignedRemoteCacheTest, RefusesAnEntryWithoutASignature) {
  expect_fault(object_of(unit_of("a")), "a signature is required, and the bundle has none");
}

TEST_F(SignedRemoteCacheTest, RefusesAnEntryThatAnotherKeyHasSigned) {
  expect_fault(signed_by(object_of(unit_of("a")), SecretKey::generate()), "key");
}

TEST_F(SignedRemoteCacheTest, RefusesASignedEntryOfAnotherUnit) {
  expect_fault(signed_by(object_of(unit_of("b")), m_key), "an entry with another key");
}

TEST_F(SignedRemoteCacheTest, RefusesASignatureThatIsMovedToAnotherEntry) {
  const std::string other = signed_by(object_of(unit_of("b")), m_key);
  const auto records =
      clbin::format::BundleReader::open(clbin::base::memory_source(as_bytes(other)), {},
                                        clbin::format::TrailingBytes::refuse)
          ->signature_records();
  ASSERT_TRUE(records);
  ASSERT_THAT(*records, SizeIs(1));
  const std::string own = object_of(unit_of("a"));
  const auto forged = clbin::format::with_trailing_records(as_bytes(own), *records);
  ASSERT_TRUE(forged);
  expect_fault(std::string(as_text(*forged)), "signature");
}

TEST_F(SignedRemoteCacheTest, StoresEntriesThatCount) {
  m_reply = [](const FakeRequest&) { return reply_frame(Status::done); };
  m_trust.signer = std::make_shared<const SecretKey>(std::move(m_key));
  const auto cache = open();
  cache->offer(unit_of("a"), entry_of(unit_of("a")));
  cache->finish();
  EXPECT_EQ(cache->take_warning(), "");
  ASSERT_THAT(m_storage.requests(), SizeIs(1));
  EXPECT_THAT(fetch_object(m_storage.requests()[0].entry).notes, ElementsAre("hit"));
}

// --- stores -------------------------------------------------------------------------------------

TEST_F(RemoteCacheTest, StoresWhatWasBuilt) {
  m_reply = [](const FakeRequest&) { return reply_frame(Status::done); };
  const auto cache = open();
  for (const char* const name : {"a", "b", "c"}) {
    cache->offer(unit_of(name), entry_of(unit_of(name)));
  }
  cache->finish();
  EXPECT_EQ(cache->take_warning(), "");
  const auto requests = m_storage.requests();
  ASSERT_THAT(requests, SizeIs(3));
  EXPECT_EQ(requests[0].kind, Operation::put);
  for (const FakeRequest& request : requests) {
    EXPECT_THAT(request.entry, ::testing::AnyOf(object_of(unit_of("a")), object_of(unit_of("b")),
                                                object_of(unit_of("c"))));
  }
}

TEST_F(RemoteCacheTest, SendsNothingToStoreIfItMayOnlyRead) {
  const auto cache = open(RemoteMode::read_only);
  EXPECT_THAT(fetch_from(*cache, {unit_of("a")}).notes, ElementsAre("miss"));
  cache->offer(unit_of("a"), entry_of(unit_of("a")));
  cache->finish();
  EXPECT_EQ(m_storage.count(Operation::get), 1U);
  EXPECT_EQ(m_storage.requests().size(), 1U);
}

TEST_F(RemoteCacheTest, WarnsOnceIfTheServerIsFull) {
  m_reply = [](const FakeRequest&) {
    return reply_frame(Status::failed, "the server answered 507");
  };
  const auto cache = open();
  for (int i = 0; i < 20; ++i) {
    cache->offer(unit_of(std::to_string(i)), entry_of(unit_of("a")));
  }
  cache->finish();
  EXPECT_EQ(cache->take_warning(), "remote cache: the server answered 507; it is not used for the "
                                   "rest of this run");
  EXPECT_EQ(cache->take_warning(), "");
  EXPECT_LE(m_storage.requests().size(), 8U); // one a thread
}

// Stores may fail at any moment of finish(), which must not blame the time then.
TEST_F(RemoteCacheTest, NamesTheFaultOfStoresThatFailWhileTheRunEnds) {
  m_reply = [](const FakeRequest&) { return reply_frame(Status::failed, "the disk is full"); };
  const EntryInput entry = entry_of(unit_of("a"));
  for (int round = 0; round < 150; ++round) {
    const auto cache = open();
    for (const char* const name : {"a", "b", "c", "d", "e", "f", "g", "h"}) {
      cache->offer(unit_of(name), entry);
    }
    cache->finish();
    ASSERT_THAT(cache->take_warning(), HasSubstr("the disk is full")) << "round " << round;
  }
}

TEST_F(RemoteCacheTest, DropsResultsThatWaitTooLongInsteadOfDelayingTheBuild) {
  m_until_the_end.lock();
  m_reply = [&](const FakeRequest&) {
    const std::lock_guard wait(m_until_the_end);
    return reply_frame(Status::done);
  };
  auto cache = open();
  EntryInput large = entry_of(unit_of("a"));
  large.payload = Bytes(std::size_t{20} << 20U);
  for (int i = 0; i < 100; ++i) {
    cache->offer(unit_of(std::to_string(i)), large); // returns although nothing is stored
  }
  m_until_the_end.unlock();
  cache->finish();
  EXPECT_EQ(cache->take_warning(), "");
  EXPECT_LE(m_storage.requests().size(), 3U); // 64 MiB, with those that are being sent
}

TEST_F(RemoteCacheTest, DoesNotWaitForTheServerIfItIsDestroyed) {
  m_until_the_end.lock();
  m_reply = [&](const FakeRequest&) {
    const std::lock_guard wait(m_until_the_end);
    return std::string();
  };
  open()->offer(unit_of("a"), entry_of(unit_of("a")));
  m_until_the_end.unlock();
}

// --- slow servers -------------------------------------------------------------------------------

// Only the server moves the clock of the time budget, except in tests with a real clock.
class SlowRemoteCacheTest : public RemoteCacheTest {
protected:
  SlowRemoteCacheTest() {
    m_now = [this] { return Clock::time_point{} + std::chrono::milliseconds(m_passed_ms); };
    for (int i = 0; i < 1000; ++i) {
      m_units.push_back(unit_of(std::to_string(i)));
    }
  }
  void answer_after(int milliseconds, bool has_entries) {
    m_reply = [this, milliseconds, has_entries](const FakeRequest& request) {
      if (request.kind == Operation::put) {
        return reply_frame(Status::done);
      }
      m_passed_ms += milliseconds;
      return has_entries ? reply_frame(Status::done, object_of(*unit_with(request.key)))
                         : reply_frame(Status::absent);
    };
  }
  [[nodiscard]] const CacheUnit* unit_with(const Digest& key) const {
    const auto found = std::find_if(m_units.begin(), m_units.end(),
                                    [&](const CacheUnit& unit) { return *unit.remote_key == key; });
    return &*found;
  }
  // Expects that most units were not looked up, and that their results are stored all the same.
  void expect_only_look_ups_end() {
    const auto cache = open();
    const Fetched fetched = fetch_from(*cache, m_units);
    // Not of the last unit alone: an answer that comes late can allow one more look-up.
    EXPECT_GT(std::ranges::count(fetched.notes, "not looked up: the server is slow"), 900);
    EXPECT_EQ(fetched.warning, "");
    EXPECT_LT(m_storage.count(Operation::get), 100U);
    for (std::size_t i = 900; i < 1000; ++i) {
      cache->offer(m_units[i], entry_of(m_units[i]));
    }
    cache->finish();
    EXPECT_EQ(cache->take_warning(), "");
    EXPECT_EQ(m_storage.count(Operation::put), 100U);
  }

  std::atomic<int> m_passed_ms = 0;
  std::vector<CacheUnit> m_units;
};

TEST_F(SlowRemoteCacheTest, EndsLookUpsThatMissAndStoresResultsAllTheSame) {
  answer_after(2000, false);
  expect_only_look_ups_end();
}

TEST_F(SlowRemoteCacheTest, EndsLookUpsThatHitLaterThanBuildsEnd) {
  answer_after(2000, true);
  expect_only_look_ups_end();
}

TEST_F(SlowRemoteCacheTest, ServesHitsOfAServerThatIsFarAway) {
  m_timeout = std::chrono::milliseconds(10'000); // in all, the answers take longer
  answer_after(15, true);                        // 120 ms over each of eight connections
  const Fetched fetched = fetch(m_units);
  EXPECT_THAT(fetched.notes, Each("hit"));
}

TEST_F(SlowRemoteCacheTest, EndsLookUpsOfARealServerInTime) {
  m_timeout = std::chrono::milliseconds(1000);
  m_now = Clock::now;
  m_reply = [this](const FakeRequest& request) {
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    return reply_frame(Status::done, object_of(*unit_with(request.key)));
  };
  const auto begin = Clock::now();
  const Fetched fetched = fetch(m_units);
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(25)); // without an end: 50
  EXPECT_LT(m_storage.requests().size(), 100U);
}

TEST_F(SlowRemoteCacheTest, ReportsAServerThatHangsAfterGoodAnswers) {
  m_timeout = std::chrono::milliseconds(200);
  m_until_the_end.lock();
  m_reply = [&](const FakeRequest&) {
    if (m_storage.requests().size() > 20) {
      const std::lock_guard wait(m_until_the_end);
    }
    return reply_frame(Status::absent);
  };
  const Fetched fetched = fetch(m_units);
  m_until_the_end.unlock();
  EXPECT_EQ(fetched.warning,
            "remote cache: no answer in time; it is not used for the rest of this run");
}

TEST_F(SlowRemoteCacheTest, WaitsAtTheEndForNoLongerThanWhatLookUpsHaveLeft) {
  m_until_the_end.lock();
  m_reply = [this](const FakeRequest& request) {
    if (request.kind == Operation::put) {
      const std::lock_guard wait(m_until_the_end);
      return std::string();
    }
    m_passed_ms += 59'950; // of a minute; 50 are free
    return reply_frame(Status::absent);
  };
  const auto cache = open();
  EXPECT_THAT(fetch_from(*cache, {unit_of("a")}).notes, ElementsAre("miss"));
  cache->offer(unit_of("a"), entry_of(unit_of("a")));
  const auto begin = Clock::now();
  cache->finish();
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(30)); // measured: 0.1
  m_until_the_end.unlock();
  EXPECT_EQ(cache->take_warning(), "remote cache: the server has not confirmed 1 result in time; "
                                   "it is not used for the rest of this run");
}

TEST_F(SlowRemoteCacheTest, ReportsAServerThatHangsWhileItStores) {
  m_timeout = std::chrono::milliseconds(100);
  m_until_the_end.lock();
  m_reply = [this](const FakeRequest&) {
    const std::lock_guard wait(m_until_the_end);
    return std::string();
  };
  const auto cache = open();
  cache->offer(unit_of("a"), entry_of(unit_of("a")));
  std::string warning;
  for (int i = 0; i < 6000 && warning.empty(); ++i) { // during the builds
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    warning = cache->take_warning();
  }
  m_until_the_end.unlock();
  EXPECT_EQ(warning, "remote cache: no answer in time; it is not used for the rest of this run");
}

TEST_F(SlowRemoteCacheTest, DropsWhatIsNotStoredYetAfterAFault) {
  m_reply = [](const FakeRequest& request) {
    return request.kind == Operation::put ? reply_frame(Status::failed, "it is full")
                                          : reply_frame(Status::absent);
  };
  const auto cache = open();
  EXPECT_THAT(fetch_from(*cache, m_units).notes, Each("miss"));
  for (const CacheUnit& unit : m_units) {
    cache->offer(unit, entry_of(unit));
  }
  cache->finish();
  EXPECT_EQ(cache->take_warning(),
            "remote cache: it is full; it is not used for the rest of this run");
  EXPECT_LE(m_storage.count(Operation::put), 8U);
}

// --- faults -------------------------------------------------------------------------------------

TEST_F(RemoteCacheTest, IsOffAfterOneFailure) {
  m_reply = [](const FakeRequest&) {
    return reply_frame(Status::failed, "the server answered 500");
  };
  std::vector<CacheUnit> units;
  for (int i = 0; i < 100; ++i) {
    units.push_back(unit_of(std::to_string(i)));
  }
  const Fetched fetched = fetch(units);
  EXPECT_THAT(fetched.binaries, Each(""));
  EXPECT_EQ(fetched.warning, "remote cache: the server answered 500; it is not used for the rest "
                             "of this run");
  EXPECT_LE(m_storage.requests().size(), 8U); // those that were sent already
}

TEST_F(RemoteCacheTest, WaitsForAHangingServerNoLongerThanTheTimeout) {
  m_timeout = std::chrono::milliseconds(100);
  m_until_the_end.lock();
  m_reply = [&](const FakeRequest&) {
    const std::lock_guard wait(m_until_the_end);
    return std::string();
  };
  std::vector<CacheUnit> units;
  for (int i = 0; i < 1000; ++i) {
    units.push_back(unit_of(std::to_string(i)));
  }
  const Fetched fetched = fetch(units);
  m_until_the_end.unlock();
  EXPECT_EQ(fetched.warning, "remote cache: no answer in time; it is not used for the rest of this "
                             "run");
  EXPECT_LE(m_storage.requests().size(), 8U);
}

TEST_F(RemoteCacheTest, ReportsAHelperThatCannotBeReached) {
  RemoteCache cache(RemoteMode::read_write, k_long, {}, [](Clock::time_point, const WakeUp&) {
    return clbin::base::Result<StorageClient>(
        clbin::base::fail(clbin::base::ErrorCode::file_read, "it did not start"));
  });
  EXPECT_EQ(fetch_from(cache, {unit_of("a")}).warning,
            "remote cache: it did not start; it is not used for the rest of this run");
}

TEST_F(RemoteCacheTest, ReportsAHelperThatRefusesToStore) {
  m_reply = [](const FakeRequest&) { return reply_frame(Status::refused); };
  const auto cache = open();
  cache->offer(unit_of("a"), entry_of(unit_of("a")));
  cache->finish();
  EXPECT_THAT(cache->take_warning(), HasSubstr("refuses to store"));
}

} // namespace
} // namespace oclcc::remote
