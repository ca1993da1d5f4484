// A builder with a cache of its own and a scripted driver.
#pragma once

#include "base/file_io.hpp"
#include "loader/run_time_program.hpp"
#include "loader_fixture.hpp"

#include <filesystem>
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace clbin::test {

[[nodiscard]] inline cache::CacheSettings cache_settings_in(const std::filesystem::path& folder) {
  cache::CacheSettings settings;
  settings.use = cache::CacheUse::on;
  settings.why_off.clear();
  settings.folder = folder;
  settings.now = [] { return std::chrono::system_clock::now(); };
  settings.pause = [](std::chrono::milliseconds) {};
  return settings;
}

class RunTimeTest : public LoaderTest {
protected:
  RunTimeTest() {
    m_driver.script_source({CL_SUCCESS, {"a", "b"}, "a warning", "BUILT"});
    script("BUILT", BinaryAnswer::accept, "");
    start_anew();
  }

  // As a process that starts: all that the one before kept is written.
  void start_anew() {
    m_builder.reset();
    m_builder = std::make_unique<loader::BuilderState>(m_settings, m_settings,
                                                       loader::UnsignedSource::built);
    m_driver.forget_calls();
  }

  cl_device_id device() {
    if (m_devices.empty()) {
      m_devices.push_back(m_driver.add_device(m_identity));
    }
    return m_devices.front();
  }

  [[nodiscard]] loader::RunTimeRequest request(std::string_view text = "kernel void a() {}\n") {
    loader::RunTimeRequest request;
    request.source.strings = {text};
    request.devices = {device()};
    return request;
  }

  // What clbin_build does. Returns "served" or "built", or an error.
  std::string build(loader::RunTimeRequest request) {
    if (m_context == nullptr) {
      m_context = m_driver.add_context(request.devices);
    }
    auto program = loader::RunTimeProgram::begin(m_driver.functions(), *m_builder, m_context,
                                                 std::move(request), m_report);
    if (!program.has_value()) {
      return program.error().message;
    }
    m_served = (*program)->serve();
    if (m_served.has_value()) {
      return "served";
    }
    auto built = (*program)->build();
    if (!built.has_value()) {
      return built.error().message;
    }
    if (m_before_keep) {
      m_before_keep();
    }
    (*program)->keep(built->get());
    return "built";
  }

  // Builds and keeps, without serve().
  void build_without_look_up(loader::RunTimeRequest request) {
    m_context = m_driver.add_context(request.devices);
    auto program = loader::RunTimeProgram::begin(m_driver.functions(), *m_builder, m_context,
                                                 std::move(request), m_report);
    ASSERT_TRUE(program.has_value());
    const auto built = (*program)->build();
    ASSERT_TRUE(built.has_value());
    (*program)->keep(built->get());
  }

  // "DECISION RULE: REASON", one an attempt.
  [[nodiscard]] std::vector<std::string> attempts() const {
    std::vector<std::string> result;
    for (const loader::Attempt& attempt : m_report.attempts) {
      result.push_back(fmt::format("{} {}: {}", to_string(attempt.decision),
                                   to_string(attempt.rule), attempt.reason));
    }
    return result;
  }

  base::TemporaryFolder m_outside = base::TemporaryFolder::create({}, "clbin-build-test-").value();
  cache::CacheSettings m_settings = cache_settings_in(m_outside.path() / "clbin");
  format::DeviceIdentity m_identity = unknown_identity("d");
  std::vector<cl_device_id> m_devices;
  std::unique_ptr<loader::BuilderState> m_builder;
  std::optional<loader::ServedProgram> m_served;
  std::function<void()> m_before_keep;
};

} // namespace clbin::test
