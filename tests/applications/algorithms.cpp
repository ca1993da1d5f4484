// Algorithms of Boost.Compute, which composes its kernels at run time and can cache them itself.
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <boost/compute.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <vector>

namespace compute = boost::compute;

int main() {
  const compute::device device = compute::system::default_device();
  const compute::context context(device);
  compute::command_queue queue(context, device);
  std::vector<int> host(5000);
  for (std::size_t i = 0; i < host.size(); ++i) {
    host[i] = static_cast<int>((i * 7919) % 5003);
  }
  compute::vector<int> values(host.size(), context);
  compute::copy(host.begin(), host.end(), values.begin(), queue);
  compute::sort(values.begin(), values.end(), queue);
  compute::copy(values.begin(), values.end(), host.begin(), queue);
  std::printf("sorted %d\n", std::is_sorted(host.begin(), host.end()) ? 1 : 0);
  int sum = 0;
  compute::reduce(values.begin(), values.end(), &sum, compute::plus<int>(), queue);
  std::printf("sum %d\n", sum);
  compute::transform(values.begin(), values.end(), values.begin(), compute::lambda::_1 * 2 + 1,
                     queue);
  compute::copy(values.begin(), values.end(), host.begin(), queue);
  std::printf("transformed %d\n", host[100]);
}
