// A bundle of one program, and a scripted driver that loads it.
#pragma once

#include "format/bundle/bundle_reader.hpp"
#include "format/bundle/bundle_writer.hpp"
#include "loader/load_program.hpp"
#include "support/crafted_bundle.hpp"
#include "support/fake_driver.hpp"
#include "support/load_reports.hpp"
#include "support/sample_identities.hpp"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace clbin::test {

// Returns PTX of the flavour that NVIDIA's OpenCL driver accepts.
[[nodiscard]] inline std::string ptx_for(const std::string& architecture) {
  return fmt::format("//\n.version 7.5\n.target {}, texmode_independent\n.address_size 64\n"
                     ".visible .entry a()\n{{\n ret;\n}}\n.visible .entry b()\n{{\n ret;\n}}\n",
                     architecture);
}

// Returns a module of version 1.MINOR for 64 bits: header, OpMemoryModel Physical64 OpenCL, and an
// OpNop for each of `nops`, which makes modules differ.
[[nodiscard]] inline std::string spirv(unsigned minor, int nops = 0) {
  std::vector<std::uint32_t> words{0x07230203U, 0x00010000U | (minor << 8U), 0, 1,
                                   0,           (3U << 16U) | 14U,           2, 2};
  words.insert(words.end(), static_cast<std::size_t>(nops), (1U << 16U) | 0U);
  return {reinterpret_cast<const char*>(words.data()), words.size() * sizeof(std::uint32_t)};
}

[[nodiscard]] inline format::Target spirv_target(unsigned minor) {
  format::Target target;
  target.origin = format::TargetOrigin::offline;
  target.identity.address_bits = 64;
  target.spec = fmt::format("spirv:1.{}", minor);
  return target;
}

[[nodiscard]] inline base::Bytes bytes_of(const std::string& text) {
  const base::ByteView view = base::as_bytes(text);
  return {view.begin(), view.end()};
}

[[nodiscard]] inline format::Target installed_target(const format::DeviceIdentity& identity) {
  return {format::TargetOrigin::installed_device, identity, ""};
}

[[nodiscard]] inline format::Target offline_target(const std::string& architecture) {
  format::Target target;
  target.origin = format::TargetOrigin::offline;
  target.identity.architecture = architecture;
  target.identity.address_bits = 64;
  target.spec = "nvptx:" + architecture;
  return target;
}

class LoaderTest : public ::testing::Test {
protected:
  LoaderTest() {
    format::ProgramInput program;
    program.name = "p";
    program.variants = {{"default", "-DV=1"}, {"fast", "-DV=1 -cl-fast-relaxed-math"}};
    m_input.producer = "test";
    m_input.programs = {program};
  }

  format::ProgramInput& program() { return m_input.programs.front(); }

  // Adds an entry with the kernels a and b.
  void add_entry(const format::Target& target, const std::string& payload,
                 const std::string& options = "-DV=1") {
    format::EntryInput entry;
    entry.variant = "default";
    entry.target = target;
    entry.options = options;
    entry.payload = bytes_of(payload);
    for (const char* name : {"a", "b"}) {
      format::KernelReflection kernel;
      kernel.name = name;
      entry.kernels.push_back(kernel);
    }
    program().entries.push_back(entry);
  }

  void add_source(const std::vector<format::SourceFile>& headers = {}) {
    program().source = format::SourcePackage{
        {"p.cl", "kernels/p.cl", "kernel void a() {}\nkernel void b() {}\n"}, headers};
    m_driver.script_source({CL_SUCCESS, {"a", "b"}, ""});
  }

  void script(const std::string& payload, BinaryAnswer answer, const std::string& log = "") {
    m_driver.script_binary(payload, {answer, {"a", "b"}, log, CL_BUILD_PROGRAM_FAILURE});
  }

  const format::BundleReader& bundle() {
    if (!m_reader.has_value()) {
      write();
      open();
    }
    return *m_reader;
  }

  // Changes one stored byte of the payload with these raw bytes.
  void damage(const std::string& payload) {
    (void)bundle();
    for (std::uint32_t index = 0; index < m_reader->blob_count(); ++index) {
      const auto raw = m_reader->read_blob(index);
      if (!raw || *raw != bytes_of(payload)) {
        continue;
      }
      const auto frame = m_reader->read_frame(index);
      ASSERT_TRUE(frame.has_value()) << frame.error().message;
      // `frame` borrows its bytes from m_bytes.
      const auto at = static_cast<std::size_t>(frame->view().data() - m_bytes.data());
      m_bytes.at(at + frame->view().size() / 2) ^= std::byte{1};
      open();
      return;
    }
    FAIL() << "no such payload in the bundle";
  }

  // Swaps the payloads of the first two entries. The rest of the table is unchanged, and all
  // digests match.
  void swap_payloads() {
    (void)bundle();
    constexpr std::size_t k_blob_field = 12;
    CraftedBundle crafted(m_bytes);
    const auto first = crafted.u32_at(format::SectionKind::entry, 0, k_blob_field);
    const auto second = crafted.u32_at(format::SectionKind::entry, 1, k_blob_field);
    crafted.set_u32(format::SectionKind::entry, 0, k_blob_field, second);
    crafted.set_u32(format::SectionKind::entry, 1, k_blob_field, first);
    m_bytes = crafted.build();
    open();
  }

  // Moves the user cache's misses from m_report to m_cache_misses.
  base::Result<opencl::Program> load(loader::LoadRequest request) {
    request.program = request.program.empty() ? "p" : request.program;
    auto program = loader::load_program(m_driver.functions(), bundle(), *m_cache, m_context,
                                        request, m_report);
    m_cache_misses = take_cache_misses(m_report);
    return program;
  }

  base::Result<opencl::Program> load_for(const std::vector<cl_device_id>& devices,
                                         loader::FallbackPolicy policy) {
    if (m_context == nullptr) {
      m_context = m_driver.add_context(devices);
    }
    loader::LoadRequest request;
    request.devices = devices;
    request.fallback = policy;
    return load(request);
  }

  // Returns "loaded exact identity", one text per attempt.
  [[nodiscard]] std::vector<std::string> decisions() const {
    std::vector<std::string> result;
    for (const loader::Attempt& attempt : m_report.attempts) {
      result.push_back(
          fmt::format("{} {}", to_string(attempt.decision),
                      attempt.target.empty() ? to_string(attempt.rule) : attempt.target));
    }
    return result;
  }

  FakeDriver m_driver;
  cl_context m_context = nullptr;
  format::BundleInput m_input;
  base::Bytes m_bytes;
  // Off, unless a test replaces it.
  std::unique_ptr<loader::ProgramCache> m_cache =
      std::make_unique<loader::ProgramCache>(cache::CacheSettings());
  loader::LoadReport m_report;
  std::vector<loader::Attempt> m_cache_misses;

private:
  void write() {
    auto written = format::write_bundle(m_input, {});
    ASSERT_TRUE(written.has_value()) << written.error().message;
    m_bytes = std::move(*written);
  }

  void open() {
    auto reader =
        format::BundleReader::open(base::memory_source(m_bytes), {}, format::TrailingBytes::refuse);
    ASSERT_TRUE(reader.has_value()) << reader.error().message;
    m_reader.emplace(std::move(*reader));
  }

  std::optional<format::BundleReader> m_reader;
};

} // namespace clbin::test
