// A test case with its own cache folder, a fixed clock, and a sleep that does not wait.
#pragma once

#include "base/file_io.hpp"
#include "cache/keyed_store.hpp"
#include "support/bundle_samples.hpp"
#include "support/texts.hpp"

#include <chrono>
#include <filesystem>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>

namespace clbin::cache {

class CacheTestCase : public ::testing::Test {
protected:
  [[nodiscard]] std::filesystem::path outside() const { return m_outside.path(); }
  [[nodiscard]] std::filesystem::path root() const { return m_outside.path() / "home" / "clbin"; }
  [[nodiscard]] std::filesystem::path programs() const { return root() / "programs"; }

  [[nodiscard]] CacheSettings settings() {
    CacheSettings settings;
    settings.use = CacheUse::on;
    settings.why_off.clear();
    settings.folder = root();
    settings.now = [this] { return m_now; };
    settings.pause = [this](std::chrono::milliseconds time) { m_paused += time; };
    return settings;
  }
  [[nodiscard]] KeyedStore user_cache() { return {settings(), CacheKind::user}; }

  [[nodiscard]] static Recipe recipe_of(const std::string& source) {
    return {"matmul / default / a device", {{"source", source}, {"options", "-DX=1"}}};
  }
  [[nodiscard]] static base::Bytes payload_of(const std::string& source) {
    return test::sample_ptx(70, "made from " + source);
  }
  static std::string store(const KeyedStore& cache, const std::string& source) {
    return cache.store(
        recipe_of(source), "matmul",
        test::sample_entry("default", test::sample_device("a device"), payload_of(source)));
  }
  [[nodiscard]] static LookUp look_up(const KeyedStore& cache, const std::string& source) {
    return cache.look_up(recipe_key(recipe_of(source)));
  }
  [[nodiscard]] static bool is_hit(const KeyedStore& cache, const std::string& source) {
    const LookUp found = look_up(cache, source);
    return found.hit.has_value() && found.hit->payload == payload_of(source);
  }
  [[nodiscard]] static CacheStatistics statistics_of(const KeyedStore& cache) {
    const auto statistics = cache.statistics();
    EXPECT_TRUE(statistics.has_value()) << statistics.error().message;
    return statistics.value_or(CacheStatistics());
  }
  [[nodiscard]] std::filesystem::path entry_path(const std::string& source) const {
    return programs() / (base::to_hex(recipe_key(recipe_of(source))) + ".clbin");
  }

  static std::string contents(const std::filesystem::path& path) { return test::file_text(path); }
  static void write(const std::filesystem::path& path, std::string_view text) {
    test::write_text(path, text);
  }
  static std::size_t count_files(const std::filesystem::path& folder, const std::string& suffix) {
    std::size_t count = 0;
    for (const auto& item : std::filesystem::directory_iterator(folder)) {
      count += item.path().extension() == suffix ? 1U : 0U;
    }
    return count;
  }

  base::TemporaryFolder m_outside = base::TemporaryFolder::create({}, "clbin-cache-test-").value();
  TimePoint m_now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  std::chrono::milliseconds m_paused{0};
};

} // namespace clbin::cache
