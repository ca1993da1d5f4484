#include "cache/quarantine.hpp"

#include "cache_test_case.hpp"
#include "support/child_process.hpp"

#include <csignal>
#include <gmock/gmock.h>

namespace clbin::cache {
namespace {

using std::chrono::hours;

class QuarantineTest : public CacheTestCase {
protected:
  [[nodiscard]] std::filesystem::path attempts() const { return root() / "attempts"; }
  [[nodiscard]] std::filesystem::path marker() const {
    return attempts() / (base::to_hex(m_payload) + "-" + base::to_hex(m_device));
  }

  [[nodiscard]] AttemptPermit begin() { return Quarantine(settings()).begin(m_payload, m_device); }
  [[nodiscard]] AttemptVerdict verdict() { return begin().verdict; }

  // An attempt during which the process crashes.
  void die() {
    const auto end = test::run_in_child([this] {
      const AttemptPermit permit = begin();
      if (permit.verdict == AttemptVerdict::go) {
        (void)raise(SIGKILL);
      }
      return 0;
    });
    EXPECT_EQ(end.signal_number, SIGKILL);
  }

  base::Digest m_payload = base::digest_of(base::as_bytes("payload"));
  base::Digest m_device = base::digest_of(base::as_bytes("device"));
};

TEST_F(QuarantineTest, LeavesAMarkerThatTellsNothingBehindAnAttemptThatEnds) {
  {
    const AttemptPermit permit = begin();
    EXPECT_EQ(permit.verdict, AttemptVerdict::go);
    EXPECT_EQ(permit.warning, "");
    EXPECT_TRUE(permit.is_marked);
    EXPECT_TRUE(begin().is_marked); // an attempt at the same time, by the marker of the first
    EXPECT_NE(contents(marker()), std::string(8, '\0'));
  }
  EXPECT_EQ(contents(marker()), std::string(8, '\0'));
}

TEST_F(QuarantineTest, LetsOneDeathPass) {
  die();
  EXPECT_TRUE(std::filesystem::exists(marker()));
  EXPECT_EQ(verdict(), AttemptVerdict::go);
}

TEST_F(QuarantineTest, TakesNoDestructorForASurvivalWhileTheDriverHasTheBytes) {
  for (int i = 0; i < 2; ++i) {
    AttemptPermit permit = begin();
    EXPECT_EQ(permit.verdict, AttemptVerdict::go);
    permit.marker.hand_over();
    const AttemptMarker moved = std::move(permit.marker);
  }
  EXPECT_EQ(verdict(), AttemptVerdict::quarantined);
}

TEST_F(QuarantineTest, CountsNoDeathOfAnExceptionThatIsCaught) {
  for (int i = 0; i < 3; ++i) {
    try {
      AttemptPermit permit = begin();
      EXPECT_EQ(permit.verdict, AttemptVerdict::go);
      permit.marker.hand_over();
      throw std::bad_alloc();
    } catch (const std::bad_alloc&) {
      EXPECT_TRUE(std::filesystem::exists(marker()));
    }
  }
  EXPECT_EQ(verdict(), AttemptVerdict::go);
}

TEST_F(QuarantineTest, HoldsBackAfterTwoDeathsWithinADay) {
  die();
  m_now += hours(23);
  die();
  const AttemptPermit permit = begin();
  EXPECT_EQ(permit.verdict, AttemptVerdict::quarantined);
  EXPECT_EQ(permit.reason,
            "it ended the process twice within 24 hours; libclbin tries it again in 720 hours");
  EXPECT_EQ(permit.warning, "");
  EXPECT_EQ(verdict(), AttemptVerdict::quarantined); // a query changes nothing
}

TEST_F(QuarantineTest, RemembersADeathOverAnAttemptThatEnded) {
  die();
  EXPECT_EQ(verdict(), AttemptVerdict::go);
  EXPECT_EQ(verdict(), AttemptVerdict::go);
  die();
  EXPECT_EQ(verdict(), AttemptVerdict::quarantined);
}

TEST_F(QuarantineTest, LetsDeathsPassThatAreMoreThanADayApart) {
  die();
  m_now += hours(25);
  die();
  EXPECT_EQ(verdict(), AttemptVerdict::go);
  m_now += hours(1);
  die(); // the second and third crash count
  EXPECT_EQ(verdict(), AttemptVerdict::quarantined);
}

TEST_F(QuarantineTest, IsLiftedAfterThirtyDays) {
  die();
  die();
  m_now += hours(30 * 24 - 1);
  EXPECT_EQ(begin().reason,
            "it ended the process twice within 24 hours; libclbin tries it again in 1 hours");
  m_now += hours(1);
  EXPECT_EQ(verdict(), AttemptVerdict::go);
  EXPECT_EQ(contents(marker()), std::string(8, '\0'));
}

TEST_F(QuarantineTest, IsLiftedByAnotherDriver) {
  die();
  die();
  EXPECT_EQ(verdict(), AttemptVerdict::quarantined);
  m_device = base::digest_of(base::as_bytes("device with another driver version"));
  EXPECT_EQ(verdict(), AttemptVerdict::go);
}

TEST_F(QuarantineTest, HoldsBackThatPayloadOnly) {
  die();
  die();
  m_payload = base::digest_of(base::as_bytes("another payload"));
  EXPECT_EQ(verdict(), AttemptVerdict::go);
}

TEST_F(QuarantineTest, TakesAMarkerThatIsHeldForALivingProcess) {
  const AttemptPermit first = begin();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(verdict(), AttemptVerdict::go);
  }
  EXPECT_TRUE(std::filesystem::exists(marker()));
}

TEST_F(QuarantineTest, CountsNoDeathOfAProcessThatDidNotHoldTheMarker) {
  const AttemptPermit first = begin();
  die();
  die();
  EXPECT_EQ(verdict(), AttemptVerdict::go);
}

TEST_F(QuarantineTest, IsNotHeldByAChildForkedDuringTheAttempt) {
  die(); // leaves the marker, which must be released
  std::optional<AttemptPermit> permit = begin();
  int ends[2] = {-1, -1};
  ASSERT_EQ(pipe(ends), 0);
  test::ChildProcess child([&] {
    close(ends[1]);
    char byte = 0;
    return read(ends[0], &byte, 1) == 0 ? 0 : 1; // blocks until the parent closes its end
  });
  permit.reset();
  die(); // counts only if the marker can be locked
  EXPECT_EQ(verdict(), AttemptVerdict::quarantined);
  close(ends[1]);
  EXPECT_EQ(child.wait().exit_code, 0);
  close(ends[0]);
}

TEST_F(QuarantineTest, LastsNoLongerWhenTheClockIsSetBack) {
  die();
  die();
  m_now -= hours(10'000);
  EXPECT_EQ(verdict(), AttemptVerdict::quarantined);
  m_now += hours(30 * 24);
  EXPECT_EQ(verdict(), AttemptVerdict::go);
}

TEST_F(QuarantineTest, SurvivesAnyMarker) {
  (void)begin();
  for (std::size_t size = 0; size < 40; ++size) {
    for (const char byte : {'\0', '\x01', '\xff'}) {
      write(marker(), std::string(size, byte));
      const AttemptPermit permit = begin();
      EXPECT_EQ(permit.warning, "");
      if (size == 0 || size % 8 != 0 || size > 24 || byte == '\0') {
        EXPECT_EQ(permit.verdict, AttemptVerdict::go) << size; // contains no information
      }
    }
  }
}

TEST_F(QuarantineTest, ForgetsMarkersOfLongAgoAfterADeath) {
  die();
  const auto old_marker = marker();
  const auto not_ours = old_marker.parent_path() / "notes";
  write(not_ours, "somebody else's");
  std::filesystem::last_write_time(not_ours,
                                   std::filesystem::file_time_type::clock::now() - hours(40 * 24));
  m_payload = base::digest_of(base::as_bytes("another payload"));
  m_now += hours(40 * 24);
  die();
  EXPECT_EQ(verdict(), AttemptVerdict::go);
  EXPECT_FALSE(std::filesystem::exists(old_marker));
  EXPECT_TRUE(std::filesystem::exists(not_ours));
}

TEST_F(QuarantineTest, ForgetsMarkersOfLongAgoAsNewPayloadsCome) {
  (void)begin();
  const auto old_marker = marker();
  m_now += hours(40 * 24);
  for (int i = 0; i < 100; ++i) {
    m_payload = base::digest_of(base::as_bytes("payload " + std::to_string(i)));
    EXPECT_EQ(verdict(), AttemptVerdict::go);
  }
  EXPECT_FALSE(std::filesystem::exists(old_marker));
}

TEST_F(QuarantineTest, DoesNothingWhenTheCacheIsOff) {
  CacheSettings off = settings();
  off.use = CacheUse::off;
  const AttemptPermit permit = Quarantine(off).begin(m_payload, m_device);
  EXPECT_EQ(permit.verdict, AttemptVerdict::go);
  EXPECT_EQ(permit.warning, "");
  EXPECT_FALSE(permit.is_marked);
  EXPECT_FALSE(std::filesystem::exists(root()));
}

class VerdictsTest : public CacheTestCase {
protected:
  [[nodiscard]] std::filesystem::path file() const {
    return root() / "answers" / base::to_hex(m_key);
  }
  base::Digest m_key = base::digest_of(base::as_bytes("checked"));
};

TEST_F(VerdictsTest, AreFoundUnderTheirKeyOnly) {
  const Verdicts verdicts(settings());
  EXPECT_EQ(verdicts.find(m_key), std::nullopt);
  EXPECT_EQ(verdicts.remember(m_key, "wrong: 2"), "");
  EXPECT_EQ(verdicts.find(m_key), "wrong: 2");
  EXPECT_EQ(verdicts.remember(m_key, std::string(5000, 'x')), "");
  EXPECT_EQ(verdicts.find(m_key), std::string(Verdicts::k_max_bytes, 'x'));
  EXPECT_EQ(verdicts.find(base::digest_of(base::as_bytes("other"))), std::nullopt);
}

TEST_F(VerdictsTest, AreNotFoundInFilesOfOthers) {
  const Verdicts verdicts(settings());
  EXPECT_EQ(verdicts.remember(m_key, "right: "), "");
  std::filesystem::remove(file());
  std::filesystem::create_symlink("/etc/hostname", file());
  EXPECT_EQ(verdicts.find(m_key), std::nullopt);
  std::filesystem::remove(file());
  std::filesystem::create_directory(file());
  EXPECT_EQ(verdicts.find(m_key), std::nullopt);
  EXPECT_NE(verdicts.remember(m_key, "right: "), "");
}

TEST_F(VerdictsTest, AreRemovedThirtyDaysAfterTheirLastUse) {
  const Verdicts verdicts(settings());
  std::vector<base::Digest> keys; // enough that some of them trigger the removal
  for (int i = 0; i < 100; ++i) {
    keys.push_back(base::digest_of(base::as_bytes(std::to_string(i))));
  }
  EXPECT_EQ(verdicts.remember(m_key, "right: "), "");
  EXPECT_EQ(verdicts.remember(keys[0], "right: "), "");
  m_now += std::chrono::hours(29 * 24);
  EXPECT_EQ(verdicts.find(keys[0]), "right: ");
  m_now += std::chrono::hours(24);
  for (std::size_t i = 1; i < keys.size(); ++i) {
    EXPECT_EQ(verdicts.remember(keys[i], "right: "), "");
  }
  EXPECT_EQ(verdicts.find(m_key), std::nullopt);
  EXPECT_EQ(verdicts.find(keys[0]), "right: ");
}

TEST_F(VerdictsTest, AreClearedWithTheUserCache) {
  const Verdicts verdicts(settings());
  EXPECT_TRUE(KeyedStore(settings(), CacheKind::user).clear().has_value()); // there is none yet
  EXPECT_EQ(verdicts.remember(m_key, "wrong: 2"), "");
  EXPECT_TRUE(KeyedStore(settings(), CacheKind::compile).clear().has_value());
  EXPECT_EQ(verdicts.find(m_key), "wrong: 2");
  EXPECT_TRUE(KeyedStore(settings(), CacheKind::user).clear().has_value());
  EXPECT_EQ(verdicts.find(m_key), std::nullopt);
}

TEST_F(VerdictsTest, AreNotKeptIfTheCacheIsOff) {
  CacheSettings off = settings();
  off.use = CacheUse::off;
  EXPECT_EQ(Verdicts(off).remember(m_key, "right: "), "");
  EXPECT_EQ(Verdicts(settings()).find(m_key), std::nullopt);
}

} // namespace
} // namespace clbin::cache
