// A program of two kernels and a header, for tests with the drivers of this machine.
#pragma once

#include "format/bundle/bundle_reader.hpp"
#include "format/bundle/bundle_writer.hpp"
#include "loader/load_program.hpp"
#include "opencl/driver.hpp"
#include "support/driver_bundle.hpp"
#include "support/load_reports.hpp"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace clbin::test {

[[nodiscard]] inline format::SourcePackage sample_source() {
  return {{"sample.cl", "kernels/sample.cl",
           "#include \"sub/scale.h\"\n"
           "kernel void scale(global float* a) { a[get_global_id(0)] *= SCALE; }\n"
           "kernel void shift(global int* a, const int by) { a[get_global_id(0)] += by; }\n"},
          {{"sub/scale.h", "kernels/sub/scale.h",
            "#ifndef SCALE_H\n#define SCALE_H\n#define SCALE (float)(BASE)\n#endif\n"}}};
}

// A program of the kernel "scale", which calculates with half if HALF is defined.
[[nodiscard]] inline format::SourcePackage half_source() {
  return {{"half.cl", "half.cl",
           "#ifdef HALF\n#pragma OPENCL EXTENSION cl_khr_fp16 : enable\ntypedef half number;\n"
           "#else\ntypedef float number;\n#endif\n"
           "kernel void scale(global number* a) { a[get_global_id(0)] *= (number)2; }\n"},
          {}};
}

[[nodiscard]] inline format::BundleReader
make_bundle(std::vector<format::EntryInput> entries, format::SourcePackage source = sample_source(),
            std::vector<format::VariantInput> variants = {{"default", "-DBASE=2"}}) {
  format::BundleInput input;
  input.producer = "test";
  format::ProgramInput& program = input.programs.emplace_back();
  program.name = "sample";
  program.source = std::move(source);
  program.variants = std::move(variants);
  program.entries = std::move(entries);
  auto written = format::write_bundle(input, {});
  EXPECT_TRUE(written.has_value()) << written.error().message;
  auto reader = format::BundleReader::open(base::owning_source(std::move(written).value(), "test"),
                                           {}, format::TrailingBytes::refuse);
  EXPECT_TRUE(reader.has_value()) << reader.error().message;
  return std::move(reader).value();
}

inline void expect_kernels(const InstalledDevice& installed, const opencl::Program& program) {
  for (const char* name : {"scale", "shift"}) {
    cl_int code = CL_SUCCESS;
    const opencl::Kernel kernel(installed.driver.CreateKernel(program.get(), name, &code),
                                installed.driver.ReleaseKernel);
    EXPECT_EQ(code, CL_SUCCESS) << name << ": " << opencl::cl_error_name(code);
  }
}

[[nodiscard]] inline loader::LoadRequest request_for(const std::vector<cl_device_id>& devices,
                                                     loader::FallbackPolicy policy) {
  loader::LoadRequest request;
  request.program = "sample";
  request.devices = devices;
  request.fallback = policy;
  return request;
}

// Loads without user cache and quarantine, which the report therefore does not mention.
[[nodiscard]] inline base::Result<opencl::Program>
load(const opencl::Driver& driver, const format::BundleReader& bundle, cl_context context,
     const loader::LoadRequest& request, loader::LoadReport& report) {
  loader::ProgramCache cache{cache::CacheSettings()};
  auto program = loader::load_program(driver, bundle, cache, context, request, report);
  (void)take_cache_misses(report);
  return program;
}

} // namespace clbin::test
