// Runs the products of clbin/matrix.clh from a bundle of matrix_products.cl, whose path is the
// first argument, on every device, in all orders, and compares them with exact ones. Elements are
// small integers, so that every sum is exact in every type.
#define CL_HPP_ENABLE_EXCEPTIONS
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#define CL_HPP_TARGET_OPENCL_VERSION 120
#include <array>
#include <clbin/opencl.hpp>
#include <cstring>
#include <iostream>
#include <random>
#include <string>
#include <vector>

namespace {

template <typename To, typename From>
To bits_of(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

enum class Element { half, bfloat, single, byte, twice };
struct Type {
  const char* name;
  std::size_t k;
  Element element;
  Element sum;
  std::vector<const char*> forms;
};
const std::array k_types = {
    Type{"f16", 16, Element::half, Element::single, {"global", "local", "tiles"}},
    Type{"bf16", 16, Element::bfloat, Element::single, {"global", "local", "tiles"}},
    Type{"tf32", 8, Element::single, Element::single, {"global", "local", "tiles"}},
    Type{"s8", 32, Element::byte, Element::byte, {"global", "local"}},
    Type{"f64", 4, Element::twice, Element::twice, {"global", "local"}}};

// Of an integer whose absolute value is at most 128.
std::uint16_t half_bits(int value) {
  const auto bits = bits_of<std::uint32_t>(static_cast<float>(value));
  const auto sign = static_cast<std::uint16_t>(bits >> 16U & 0x8000U);
  return value == 0
             ? 0
             : static_cast<std::uint16_t>(sign | ((bits & 0x7fffffffU) - 0x38000000U) >> 13U);
}

template <typename Number>
void append(std::vector<std::byte>& bytes, Number number) {
  const auto part = bits_of<std::array<std::byte, sizeof(Number)>>(number);
  bytes.insert(bytes.end(), part.begin(), part.end());
}

std::vector<std::byte> encoded(const std::vector<int>& values, Element element) {
  std::vector<std::byte> bytes;
  for (const int value : values) {
    switch (element) {
    case Element::half:
      append(bytes, half_bits(value));
      break;
    case Element::bfloat:
      append(bytes,
             static_cast<std::uint16_t>(bits_of<std::uint32_t>(static_cast<float>(value)) >> 16U));
      break;
    case Element::single:
      append(bytes, static_cast<float>(value));
      break;
    case Element::byte:
      append(bytes, static_cast<std::int8_t>(value));
      break;
    case Element::twice:
      append(bytes, static_cast<double>(value));
      break;
    }
  }
  return bytes;
}

// Of c: bytes are ints there.
std::vector<std::byte> encoded_sums(const std::vector<int>& values, Element element) {
  std::vector<std::byte> bytes;
  for (const int value : values) {
    if (element == Element::byte) {
      append(bytes, value);
    }
  }
  return element == Element::byte ? bytes : encoded(values, element);
}

std::vector<int> random_matrix(std::size_t elements, int largest, std::mt19937& random) {
  std::vector<int> values(elements);
  for (int& value : values) {
    value = static_cast<int>(random() % (2 * static_cast<unsigned>(largest) + 1)) - largest;
  }
  return values;
}

// In memory, in row-major (0) or column-major (1) order.
std::vector<int> ordered(const std::vector<int>& matrix, std::size_t rows, std::size_t columns,
                         int order) {
  std::vector<int> values(matrix.size());
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      values[order == 0 ? row * columns + column : column * rows + row] =
          matrix[row * columns + column];
    }
  }
  return values;
}

class Tester {
public:
  Tester(const cl::Device& device, const clbin::Bundle& bundle)
      : m_device(device), m_context(device), m_queue(m_context, device) {
    m_program = bundle.load(m_context, device, "matrix_products", clbin::LoadOptions(), &m_report);
  }

  // Returns the number of wrong products.
  int run() {
    cl::Buffer units(m_context, CL_MEM_READ_WRITE, 6 * sizeof(cl_int));
    cl::Kernel ask(m_program, "units");
    ask.setArg(0, units);
    m_queue.enqueueNDRangeKernel(ask, cl::NullRange, cl::NDRange(1));
    m_queue.enqueueReadBuffer(units, CL_TRUE, 0, sizeof m_units, m_units);
    std::cout << m_device.getInfo<CL_DEVICE_NAME>() << ", " << m_report.text();
    int wrong = 0;
    for (std::size_t i = 0; i < k_types.size(); ++i) {
      wrong += run_type(k_types[i], m_units[i] != 0);
    }
    return wrong;
  }

private:
  int run_type(const Type& type, bool has_unit) {
    if (type.element == Element::twice &&
        m_device.getInfo<CL_DEVICE_EXTENSIONS>().find("cl_khr_fp64") == std::string::npos) {
      std::cout << "  f64: the device has no double\n";
      return 0;
    }
    int wrong = 0;
    int products = 0;
    for (const char* form : type.forms) {
      for (int orders = 0; orders < 8; ++orders) {
        for (int round = 0; round < 4; ++round, ++products) {
          wrong += is_right(type, form, orders, round) ? 0 : 1;
        }
      }
    }
    std::cout << "  " << type.name << (has_unit ? ", matrix unit: " : ", loops: ")
              << products - wrong << " of " << products << " right\n";
    return wrong;
  }

  bool is_right(const Type& type, const std::string& form, int orders, int round) {
    // Rounds: a matrix, the identity on either side, and the largest elements.
    const int largest = round == 3 ? 127 : 5;
    std::vector<int> a = random_matrix(16 * type.k, largest, m_random);
    std::vector<int> b = random_matrix(type.k * 16, largest, m_random);
    const std::vector<int> c = random_matrix(256, 9, m_random);
    for (std::size_t i = 0; i < a.size(); ++i) {
      a[i] = round == 1 ? static_cast<int>(i / type.k == i % type.k) : a[i];
      b[i] = round == 2 ? static_cast<int>(i / 16 == i % 16) : b[i];
    }
    std::vector<int> want(256);
    for (std::size_t i = 0; i < 256; ++i) {
      int sum = c[i];
      for (std::size_t k = 0; k < type.k; ++k) {
        sum += a[i / 16 * type.k + k] * b[k * 16 + i % 16];
      }
      want[i] = (sum + c[i]) * 2;
    }
    const std::array order = {orders & 1, orders >> 1 & 1, orders >> 2};
    return launched(type, form, order, encoded(ordered(a, 16, type.k, order[0]), type.element),
                    encoded(ordered(b, type.k, 16, order[1]), type.element),
                    encoded_sums(ordered(c, 16, 16, order[2]), type.sum)) ==
           encoded_sums(ordered(want, 16, 16, order[2]), type.sum);
  }

  std::vector<std::byte> launched(const Type& type, const std::string& form,
                                  const std::array<int, 3>& order, std::vector<std::byte> a,
                                  std::vector<std::byte> b, std::vector<std::byte> c) {
    const auto buffer = [&](std::vector<std::byte>& bytes) {
      return cl::Buffer(m_context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes.size(),
                        bytes.data());
    };
    const cl::Buffer of_a = buffer(a);
    const cl::Buffer of_b = buffer(b);
    const cl::Buffer of_c = buffer(c);
    cl::Kernel kernel(m_program, (type.name + ("_" + form)).c_str());
    kernel.setArg(0, of_a);
    kernel.setArg(1, of_b);
    kernel.setArg(2, of_c);
    for (cl_uint i = 0; i < 3; ++i) {
      kernel.setArg(3 + i, static_cast<cl_int>(order[i]));
    }
    if (form == "local") {
      kernel.setArg(6, cl::Local(a.size()));
      kernel.setArg(7, cl::Local(b.size()));
      kernel.setArg(8, cl::Local(c.size()));
    }
    const cl::NDRange items(static_cast<std::size_t>(m_units[5]));
    m_queue.enqueueNDRangeKernel(kernel, cl::NullRange, items, items);
    m_queue.enqueueReadBuffer(of_c, CL_TRUE, 0, c.size(), c.data());
    return c;
  }

  cl::Device m_device;
  cl::Context m_context;
  cl::CommandQueue m_queue;
  clbin::Report m_report;
  cl::Program m_program;
  cl_int m_units[6] = {};
  std::mt19937 m_random{1};
};

} // namespace

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::cerr << "usage: matrix_products BUNDLE\n";
    return 2;
  }
  const auto bundle = clbin::Bundle::open(argv[1]);
  std::vector<cl::Platform> platforms;
  cl::Platform::get(&platforms);
  int wrong = 0;
  for (const cl::Platform& platform : platforms) {
    std::vector<cl::Device> devices;
    platform.getDevices(CL_DEVICE_TYPE_ALL, &devices);
    for (const cl::Device& device : devices) {
      wrong += Tester(device, bundle).run();
    }
  }
  return wrong == 0 ? 0 : 1;
} catch (const clbin::Error& error) {
  std::cerr << "matrix_products: " << error.what() << '\n';
  return 1;
} catch (const cl::Error& error) {
  std::cerr << "matrix_products: " << error.what() << ": OpenCL error " << error.err() << '\n';
  return 1;
}
