// Vectors and a matrix of ViennaCL, which generates its kernels at run time. All values are small
// integers, so that every device prints the same numbers.
#define VIENNACL_WITH_OPENCL
#include <viennacl/linalg/inner_prod.hpp>
#include <viennacl/linalg/prod.hpp>
#include <viennacl/matrix.hpp>
#include <viennacl/vector.hpp>

#include <cstddef>
#include <cstdio>
#include <numeric>
#include <vector>

int main() {
  constexpr std::size_t k_size = 128; // elements
  std::vector<float> x(k_size);
  std::vector<float> y(k_size);
  std::vector<std::vector<float>> rows(k_size, std::vector<float>(k_size));
  for (std::size_t i = 0; i < k_size; ++i) {
    x[i] = static_cast<float>(i % 9);
    y[i] = static_cast<float>(i % 4);
    for (std::size_t j = 0; j < k_size; ++j) {
      rows[i][j] = static_cast<float>((i + j) % 3);
    }
  }
  viennacl::vector<float> device_x(k_size);
  viennacl::vector<float> device_y(k_size);
  viennacl::vector<float> result(k_size);
  viennacl::copy(x, device_x);
  viennacl::copy(y, device_y);
  result = device_x + 2.0F * device_y;
  const float product = viennacl::linalg::inner_prod(result, device_y);
  std::printf("inner product %.0f\n", product);
  viennacl::matrix<float> matrix(k_size, k_size);
  viennacl::copy(rows, matrix);
  result = viennacl::linalg::prod(matrix, device_x);
  viennacl::copy(result, x);
  std::printf("matrix product %.0f\n", std::accumulate(x.begin(), x.end(), 0.0));
}
