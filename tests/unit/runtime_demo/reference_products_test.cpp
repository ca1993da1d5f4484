#include "reference_products.hpp"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>

namespace runtime_demo {
namespace {

constexpr std::uint64_t k_seed = 42;

const KernelCase& reference_case(const char* name) {
  return *find_kernels(name).front();
}

template <class T>
std::vector<T> typed(const std::vector<std::byte>& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

template <class T>
std::vector<std::byte> to_bytes(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::vector<std::byte> expected_as_floats(const Workload& workload) {
  return to_bytes(std::vector<float>(workload.expected.begin(), workload.expected.end()));
}

TEST(ReferenceProducts, ExpectTheProductOfTheOperands) {
  const Size size{2, 3, 4};
  const Workload workload = make_workload(reference_case("sgemm"), size, k_seed);
  const std::vector<float> a = typed<float>(workload.left);
  const std::vector<float> b = typed<float>(workload.right);
  ASSERT_EQ(a.size(), 6U);
  ASSERT_EQ(b.size(), 12U);
  for (std::size_t i = 0; i < size.m; ++i) {
    for (std::size_t j = 0; j < size.l; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < size.n; ++k) {
        sum += static_cast<double>(a[i * size.n + k]) * static_cast<double>(b[k * size.l + j]);
      }
      EXPECT_DOUBLE_EQ(workload.expected[i * size.l + j], sum);
    }
  }
}

TEST(ReferenceProducts, ReadColumnMajorOperandsByColumns) {
  const Size size{2, 3, 4};
  const Workload workload = make_workload(reference_case("floatMatrixMult"), size, k_seed);
  const std::vector<float> a = typed<float>(workload.left);
  const std::vector<float> b = typed<float>(workload.right);
  for (std::size_t i = 0; i < size.m; ++i) {
    for (std::size_t j = 0; j < size.l; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < size.n; ++k) {
        sum += static_cast<double>(a[k * size.m + i]) * static_cast<double>(b[j * size.n + k]);
      }
      EXPECT_DOUBLE_EQ(workload.expected[j * size.m + i], sum);
    }
  }
}

TEST(ReferenceProducts, TakeAnElementsMagnitudeFromItsRowAndColumn) {
  const Size size{1, 2, 1};
  const Workload workload = make_workload(reference_case("matMul"), size, k_seed);
  const std::vector<double> a = typed<double>(workload.left);
  const std::vector<double> b = typed<double>(workload.right);
  EXPECT_DOUBLE_EQ(workload.magnitude.at(0), std::hypot(a[0], a[1]) * std::hypot(b[0], b[1]));
}

TEST(ReferenceProducts, TransposeARectangle) {
  const Size size{2, 3, 1};
  const Workload workload = make_workload(reference_case("transpose"), size, k_seed);
  const std::vector<float> a = typed<float>(workload.left);
  EXPECT_TRUE(workload.right.empty());
  for (std::size_t i = 0; i < size.m; ++i) {
    for (std::size_t j = 0; j < size.n; ++j) {
      EXPECT_EQ(workload.expected[j * size.m + i], static_cast<double>(a[i * size.n + j]));
    }
  }
}

TEST(ReferenceProducts, DrawTheSameOperandsFromTheSameSeedOnly) {
  const Size size{4, 4, 4};
  const KernelCase& kernel = reference_case("sgemm");
  EXPECT_EQ(make_workload(kernel, size, 1).left, make_workload(kernel, size, 1).left);
  EXPECT_NE(make_workload(kernel, size, 1).left, make_workload(kernel, size, 2).left);
}

TEST(ReferenceProducts, TimeTheSerialCpuAtAnySize) {
  for (const char* const name :
       {"sgemm", "matMul", "floatMatrixMult", "dotProduct", "mul", "vadd", "transpose"}) {
    const Workload workload = make_workload(reference_case(name), {3, 2, 1}, k_seed);
    EXPECT_GT(workload.serial.seconds, 0) << name;
    EXPECT_EQ(workload.serial.measured, 1) << name;
  }
}

TEST(Comparison, AcceptsWhatIsWithinTheBound) {
  const KernelCase& kernel = reference_case("sgemm");
  const Size size{3, 5, 7};
  const Workload workload = make_workload(kernel, size, k_seed);
  const Comparison comparison =
      compare(kernel, workload, expected_as_floats(workload), allowed_error(kernel, size));
  EXPECT_EQ(comparison.wrong, 0U);
  EXPECT_LE(comparison.largest_error, 0x1p-24);
}

TEST(Comparison, CountsEveryWrongElementAndNamesTheFirst) {
  const KernelCase& kernel = reference_case("sgemm");
  const Size size{3, 5, 7};
  const Workload workload = make_workload(kernel, size, k_seed);
  std::vector<float> result = typed<float>(expected_as_floats(workload));
  result[4] += 0.5F;
  result[20] = std::numeric_limits<float>::quiet_NaN();
  const Comparison comparison =
      compare(kernel, workload, to_bytes(result), allowed_error(kernel, size));
  EXPECT_EQ(comparison.wrong, 2U);
  EXPECT_EQ(comparison.first_wrong, 4U);
  EXPECT_TRUE(std::isinf(comparison.largest_error));
}

TEST(Comparison, RefusesAProductThatLacksOneTerm) {
  const KernelCase& kernel = reference_case("sgemm");
  const Size size{1, 1024, 1};
  const Workload workload = make_workload(kernel, size, k_seed);
  const std::vector<float> a = typed<float>(workload.left);
  const std::vector<float> b = typed<float>(workload.right);
  const std::vector<float> result{static_cast<float>(workload.expected[0]) - a[7] * b[7]};
  EXPECT_EQ(compare(kernel, workload, to_bytes(result), allowed_error(kernel, size)).wrong, 1U);
}

TEST(Comparison, AddsThePartialSumsOfADotProduct) {
  const KernelCase& kernel = reference_case("dotProduct_tiled");
  const Size size{100, 1, 1};
  const Workload workload = make_workload(kernel, size, k_seed);
  const auto sum = static_cast<float>(workload.expected.at(0));
  const double bound = allowed_error(kernel, size);
  EXPECT_EQ(compare(kernel, workload, to_bytes(std::vector<float>{sum - 2, 1, 1}), bound).wrong,
            0U);
  EXPECT_EQ(compare(kernel, workload, to_bytes(std::vector<float>{sum - 2, 1}), bound).wrong, 1U);
}

TEST(Comparison, RefusesPoison) {
  for (const char* const name : {"sgemm", "matMul", "dotProduct_tiled", "vadd", "transpose"}) {
    const KernelCase& kernel = reference_case(name);
    const Size size{5, 4, 3};
    const Workload workload = make_workload(kernel, size, k_seed);
    const std::size_t elements = workload.expected.size();
    const Comparison comparison =
        compare(kernel, workload, poison(kernel.precision, elements), allowed_error(kernel, size));
    EXPECT_EQ(comparison.wrong, elements) << name;
  }
}

} // namespace
} // namespace runtime_demo
