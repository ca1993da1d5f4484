// Runs the compile mode in a new folder.
#pragma once

#include "compile.hpp"

#include "base/file_io.hpp"
#include "format/bundle/bundle_reader.hpp"
#include "support/texts.hpp"

#include <filesystem>
#include <gtest/gtest.h>

namespace oclcc {

struct CompileOutcome {
  ExitCode code = ExitCode::success;
  std::string messages;
};

// Opens a bundle, which must be sound.
inline clbin::format::BundleReader sound_bundle(const std::filesystem::path& path) {
  auto source = clbin::base::open_file_source(path);
  EXPECT_TRUE(source) << source.error().message;
  auto reader =
      clbin::format::BundleReader::open(*source, {}, clbin::format::TrailingBytes::refuse);
  EXPECT_TRUE(reader) << reader.error().message;
  const auto verified = reader->verify();
  EXPECT_TRUE(verified) << verified.error().message;
  return std::move(*reader);
}

class CompileCase : public ::testing::Test {
protected:
  void SetUp() override {
    m_before = std::filesystem::current_path();
    std::filesystem::current_path(m_folder.path());
    m_options.output = "out.clbin";
    m_options.color = ColorMode::never;
  }
  void TearDown() override { std::filesystem::current_path(m_before); }

  // Adds a program, whose text controls the stub of worker_stub.cpp.
  void add_input(const std::string& name, const std::string& text) {
    clbin::test::write_text(name + ".cl", text + "\n");
    m_options.inputs.push_back({name + ".cl", name});
  }

  CompileOutcome run() {
    testing::internal::CaptureStderr();
    Reporter reporter(m_options.color, m_options.verbosity);
    CompileOutcome outcome;
    outcome.code = compile(m_options, m_settings, {m_cache, m_remote}, reporter);
    outcome.messages = testing::internal::GetCapturedStderr();
    return outcome;
  }

  clbin::base::TemporaryFolder m_folder =
      clbin::base::TemporaryFolder::create({}, "oclcc-test-").value();
  std::filesystem::path m_before;
  Options m_options;
  worker::WorkerSettings m_settings;
  clbin::cache::CacheSettings m_cache; // off
  remote::RemoteSettings m_remote;     // off
};

} // namespace oclcc
