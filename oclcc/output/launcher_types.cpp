#include "output/launchers.hpp"

#include <algorithm>
#include <array>
#include <fmt/core.h>
#include <sstream>

namespace oclcc {

namespace {

constexpr std::array<std::string_view, 20> k_qualifiers = {
    "const",        "volatile",   "restrict",     "__restrict",  "global",
    "__global",     "local",      "__local",      "constant",    "__constant",
    "private",      "__private",  "read_only",    "__read_only", "write_only",
    "__write_only", "read_write", "__read_write", "generic",     "__generic"};

using TypePair = std::pair<std::string_view, std::string_view>; // of OpenCL C, and of the host

constexpr TypePair k_scalar_types[] = {
    {"char", "char"},
    {"signed char", "char"},
    {"uchar", "uchar"},
    {"unsigned char", "uchar"},
    {"short", "short"},
    {"ushort", "ushort"},
    {"unsigned short", "ushort"},
    {"int", "int"},
    {"signed int", "int"},
    {"uint", "uint"},
    {"unsigned int", "uint"},
    {"unsigned", "uint"},
    {"long", "long"},
    {"signed long", "long"},
    {"ulong", "ulong"},
    {"unsigned long", "ulong"},
    {"float", "float"},
    {"double", "double"},
    {"half", "half"},
    {"atomic_int", "int"},
    {"atomic_uint", "uint"},
    {"atomic_long", "long"},
    {"atomic_ulong", "ulong"},
    {"atomic_float", "float"},
    {"atomic_double", "double"},
    {"int8_t", "char"},
    {"uint8_t", "uchar"},
    {"int16_t", "short"},
    {"uint16_t", "ushort"},
    {"int32_t", "int"},
    {"uint32_t", "uint"},
    {"int64_t", "long"},
    {"uint64_t", "ulong"},
};

constexpr TypePair k_object_types[] = {
    {"image1d_t", "cl::Image1D"},
    {"image1d_buffer_t", "cl::Image1DBuffer"},
    {"image1d_array_t", "cl::Image1DArray"},
    {"image2d_t", "cl::Image2D"},
    {"image2d_array_t", "cl::Image2DArray"},
    {"image2d_depth_t", "cl::Image2D"},
    {"image2d_array_depth_t", "cl::Image2DArray"},
    {"image3d_t", "cl::Image3D"},
    {"sampler_t", "cl::Sampler"},
};

// Returns null if the type is not one of `types`.
const TypePair* find_type(std::span<const TypePair> types, std::string_view name) {
  const auto found = std::ranges::find(types, name, &TypePair::first);
  return found == types.end() ? nullptr : &*found;
}

struct Spelling {
  std::string base;               // "unsigned int"
  std::vector<std::string> words; // of base
  std::size_t stars = 0;
  bool is_name = true; // of words only: no brackets
};

Spelling spelling_of(std::string_view type_name) {
  Spelling spelling;
  std::string spaced;
  for (const char c : type_name) {
    spelling.stars += c == '*' ? 1 : 0;
    spelling.is_name =
        spelling.is_name && std::string_view("()[]<>{}&").find(c) == std::string::npos;
    spaced += c == '*' ? ' ' : c;
  }
  std::istringstream words(spaced);
  for (std::string word; words >> word;) {
    if (std::ranges::find(k_qualifiers, word) == k_qualifiers.end()) {
      spelling.base += (spelling.base.empty() ? "" : " ") + word;
      spelling.words.push_back(word);
    }
  }
  return spelling;
}

// Returns "cl_float4"; std::nullopt if C++ has no such type.
std::optional<std::string> host_type(const std::string& base) {
  if (const TypePair* const scalar = find_type(k_scalar_types, base)) {
    return fmt::format("cl_{}", scalar->second);
  }
  for (const std::string_view lanes : {"16", "2", "3", "4", "8"}) {
    const std::string_view lane = std::string_view(base).substr(0, base.size() - lanes.size());
    const TypePair* const scalar =
        base.ends_with(lanes) ? find_type(k_scalar_types, lane) : nullptr;
    // cl_half2 is missing from older headers.
    if (scalar != nullptr && scalar->second != "half" &&
        scalar->first.find_first_of(" _") == std::string::npos) {
      return fmt::format("cl_{}{}", scalar->second, lanes);
    }
  }
  return std::nullopt;
}

ParameterType pointer_type(const Spelling& spelling, format::AddressSpace space) {
  const bool local = space == format::AddressSpace::local;
  if (!spelling.is_name || spelling.base == "void" || spelling.stars > 1) {
    return {ParameterForm::plain, local ? "clbin::LocalBytes" : "const cl::Buffer&"};
  }
  const auto host = host_type(spelling.base);
  if (!host) {
    return {local ? ParameterForm::any_local : ParameterForm::any_buffer, {}};
  }
  return {ParameterForm::plain, local ? fmt::format("clbin::Local<{}>", *host)
                                      : fmt::format("const clbin::Buffer<{}>&", *host)};
}

// Whether C++, macros of compilers and of the C library, or launchers themselves use the name.
bool is_keyword(const std::string& word) {
  static const std::set<std::string> words = {
      "linux",  "unix",  "i386",  "NULL",    "EOF", "assert", "errno", "stdin", "stdout",
      "stderr", "major", "minor", "makedev", "I",   "cl",     "clbin", "std",   "kernels"};
  return embed::is_cpp_keyword(word) || words.contains(word);
}

// "image2d_msaa_t": not a struct called "image_params".
bool is_image(std::string_view base) {
  constexpr std::string_view k_start = "image";
  return base.size() > k_start.size() + 1 && base.starts_with(k_start) &&
         base[k_start.size()] >= '1' && base[k_start.size()] <= '3' &&
         base[k_start.size() + 1] == 'd' && base.ends_with("_t");
}

bool is_not_supported(const Spelling& spelling) {
  constexpr std::array<std::string_view, 5> k_words = {"pipe", "queue_t", "clk_event_t", "event_t",
                                                       "reserve_id_t"};
  return spelling.words.empty() ||
         std::find_first_of(spelling.words.begin(), spelling.words.end(), k_words.begin(),
                            k_words.end()) != spelling.words.end();
}

bool is_identifier_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

} // namespace

ParameterType parameter_type(const format::KernelArgument& argument) {
  const Spelling spelling = spelling_of(argument.type_name);
  if (argument.is_pipe || is_not_supported(spelling)) {
    return {ParameterForm::not_supported};
  }
  if (const TypePair* const object = find_type(k_object_types, spelling.base)) {
    return {ParameterForm::plain, fmt::format("const {}&", object->second)};
  }
  if (is_image(spelling.base)) {
    return {ParameterForm::plain, "const cl::Image&"};
  }
  // An array parameter is a pointer. A driver may omit its star; only its address space shows it.
  if (spelling.stars != 0 || argument.address_space != format::AddressSpace::private_) {
    return pointer_type(spelling, argument.address_space);
  }
  const auto host = host_type(spelling.base);
  return host ? ParameterType{ParameterForm::plain, fmt::format("clbin::Value<{}>", *host)}
              : ParameterType{ParameterForm::any_struct};
}

std::string cpp_identifier(std::string_view name, std::set<std::string>& taken) {
  std::string identifier;
  for (const char c : name) {
    identifier += is_identifier_letter(c) ? c : '_';
  }
  if (identifier.empty() || (identifier.front() >= '0' && identifier.front() <= '9')) {
    identifier.insert(0, "_");
  }
  // A bundle can have any number of equal names: after some underscores, numbers.
  constexpr int k_max_underscores = 8;
  int underscores = 0;
  std::size_t number = taken.size();
  std::string candidate = identifier;
  while (is_keyword(candidate) || !taken.insert(candidate).second) {
    if (underscores++ < k_max_underscores) {
      candidate += '_';
    } else {
      candidate = fmt::format("{}_{}", identifier, number);
      number = 2 * number + 1; // a bundle cannot contain names for many of these numbers
    }
  }
  return candidate;
}

} // namespace oclcc
