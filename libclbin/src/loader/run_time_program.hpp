// Serves programs whose source is known only at run time: from the entries of bundles, then from
// the user cache. What the caller builds instead is stored for the next time.
#pragma once

#include "loader/builder_state.hpp"
#include "loader/load_program.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clbin::loader {

// The source of a program, as the application passes it to OpenCL. A RunTimeProgram borrows the
// strings and the IL until it ends.
struct RunTimeSource {
  std::vector<std::string_view> strings;   // of clCreateProgramWithSource, in order
  base::ByteView il;                       // of clCreateProgramWithIL: `strings` is then empty
  std::vector<format::SourceFile> headers; // of clCompileProgram, by include name
  std::string options;
  std::vector<opencl::SpecializationConstant> constants; // of IL
  std::string label; // what stays the same if the source changes ("matmul"); may be empty
};

// What a stored entry says of its kernels.
enum class KernelDetail : std::uint8_t {
  names,
  arguments, // creates every kernel after a build, except on rusticl, where that can crash
};

// Whether serve() builds the IL that bundles contain for the source. Never done for several
// devices, as in a load.
enum class BundleIl : std::uint8_t { ignored, built };

// When a large text is examined for what makes a build depend on more than the text.
enum class Examination : std::uint8_t {
  in_begin,
  // Not if the user cache serves the program. Only for callers that build with build(), which reads
  // headers before the driver does.
  after_a_miss,
};

struct RunTimeRequest {
  RunTimeSource source;
  std::vector<cl_device_id> devices; // at least one, without duplicates, all in the context
  FallbackPolicy fallback = FallbackPolicy::if_needed;
  ReportDetail detail = ReportDetail::every_entry;
  KernelDetail kernels = KernelDetail::names;
  BundleIl bundle_il = BundleIl::built;
  Examination examination = Examination::in_begin;
  std::function<void(const Attempt&)> on_attempt; // as in LoadRequest
};

// What the build of a binary reported.
struct ProgramDetails {
  std::string build_log;
  std::vector<format::KernelReflection> kernels; // sorted by name
};

// The details of one binary. They are read only if they are needed.
class ServedDetails {
public:
  ServedDetails(std::shared_ptr<const format::BundleReader> bundle, format::GroupView group,
                std::uint32_t entry);
  // Errors of the reader. Thread-safe.
  [[nodiscard]] base::Result<ProgramDetails> read() const;

private:
  std::shared_ptr<const format::BundleReader> m_bundle;
  format::GroupView m_group;
  std::uint32_t m_entry;
};

struct ServedProgram {
  opencl::Program program; // built; its kernels can be created
  Origin origin = Origin::none;
  std::vector<ServedDetails> details; // one a device
};

// When the binary of a built program is taken. PoCL compiles the code of a work-group size at its
// first launch, and its binary contains only what was compiled until then.
enum class KeepTime : std::uint8_t {
  after_build,
  after_launches,
  after_more_launches, // replaces the entry that the caller stored after_launches
};

// One request to build a program. Used by one thread; `begin` borrows everything but the request.
class RunTimeProgram {
public:
  // Resolves includes and computes the key. With Examination::after_a_miss, first assumes that a
  // large text is self-contained, and resolves its includes when serve() has not found that key, or
  // in build() or keep(). Fills `report`, which later calls extend. invalid_argument: there is no
  // source, source and IL, or headers or constants that do not fit; there is no device, one is not
  // in the context or is listed twice. opencl_call: a query failed.
  [[nodiscard]] static base::Result<RunTimeProgram> begin(const opencl::Driver& driver,
                                                          BuilderState& builder, cl_context context,
                                                          RunTimeRequest request,
                                                          LoadReport& report);
  RunTimeProgram(RunTimeProgram&&) noexcept;
  RunTimeProgram& operator=(RunTimeProgram&&) noexcept;
  ~RunTimeProgram();

  // Tries entries of bundles that were made for this device, the user cache, compatible entries,
  // IL of bundles. Never builds what the request contains. If another thread or process builds the
  // same program for the cache, waits for it, as a load does. std::nullopt: the caller builds;
  // until keep() or the destructor, others may wait for that build. With FallbackPolicy::never,
  // only device binaries of bundles serve; with always, nothing does.
  [[nodiscard]] std::optional<ServedProgram> serve();

  // Builds as the application would, for clbin_build. build_failed, with the build log. not_signed,
  // if the builder refuses unsigned source.
  [[nodiscard]] base::Result<opencl::Program> build();

  // Passes the binary of a program that the caller built from exactly this request to the store
  // queue, with its build log. Stores nothing if no key identifies the program, or if a header has
  // changed since begin(). On PoCL, stores nothing after_build. Does not require serve(). Problems
  // are warnings of the report.
  void keep(cl_program built, KeepTime time = KeepTime::after_build);

  // The names under which a bundle records the program. Empty if the closure is not known.
  [[nodiscard]] const std::string& program() const;
  [[nodiscard]] const std::string& variant() const;
  [[nodiscard]] const std::string& normalized_options() const noexcept;
  // The closed source; its main text is empty for IL.
  [[nodiscard]] const format::SourcePackage& package() const;
  // Returns whether a device is one of PoCL.
  [[nodiscard]] bool is_on_pocl() const;
  // Why no key identifies the program, as "source:3: …"; empty if one does.
  [[nodiscard]] const std::string& why_not_keyed() const;

private:
  struct State;
  explicit RunTimeProgram(std::unique_ptr<State> state);
  std::unique_ptr<State> m_state;
};

} // namespace clbin::loader
