#include "format/binary/spirv_types.hpp"

namespace clbin::format {
namespace {

constexpr int k_max_type_nesting = 16;

struct NamedShape {
  ImageShape shape;
  std::string_view name;
};

constexpr std::uint32_t k_1d = 0;
constexpr std::uint32_t k_2d = 1;
constexpr std::uint32_t k_3d = 2;
constexpr std::uint32_t k_buffer = 5;

constexpr std::array k_images{
    NamedShape{{k_1d, false, false, false}, "image1d_t"},
    NamedShape{{k_1d, false, true, false}, "image1d_array_t"},
    NamedShape{{k_buffer, false, false, false}, "image1d_buffer_t"},
    NamedShape{{k_2d, false, false, false}, "image2d_t"},
    NamedShape{{k_2d, false, true, false}, "image2d_array_t"},
    NamedShape{{k_2d, true, false, false}, "image2d_depth_t"},
    NamedShape{{k_2d, true, true, false}, "image2d_array_depth_t"},
    NamedShape{{k_2d, false, false, true}, "image2d_msaa_t"},
    NamedShape{{k_2d, false, true, true}, "image2d_array_msaa_t"},
    NamedShape{{k_2d, true, false, true}, "image2d_msaa_depth_t"},
    NamedShape{{k_2d, true, true, true}, "image2d_array_msaa_depth_t"},
    NamedShape{{k_3d, false, false, false}, "image3d_t"},
};

// Names that do not depend on operands, by kind.
constexpr std::string_view k_plain_names[] = {
    "void",  "void",    "bool",         "",        "",     "", "", "sampler_t", "array", "", "", "",
    "void*", "event_t", "reserve_id_t", "queue_t", "pipe",
};

std::string integer_name(std::uint32_t width, bool has_sign) {
  const std::string_view prefix = has_sign ? "" : "u";
  for (const auto& [bits, name] :
       {std::pair{8U, "char"}, {16U, "short"}, {32U, "int"}, {64U, "long"}}) {
    if (bits == width) {
      return fmt::format("{}{}", prefix, name);
    }
  }
  return fmt::format("{}int{}_t", prefix, width);
}

std::string float_name(std::uint32_t width) {
  return width == 16   ? "half"
         : width == 32 ? "float"
         : width == 64 ? "double"
                       : fmt::format("float{}_t", width);
}

// clang uses the name "struct.pair" for the structure `pair` of C.
std::string_view without_tag(std::string_view name) {
  for (const std::string_view tag : {"struct.", "union.", "class.", "opencl."}) {
    if (name.starts_with(tag)) {
      return name.substr(tag.size());
    }
  }
  return name;
}

// Returns a name such as "image2d_array_t"; "image" for a shape that OpenCL C does not have.
std::string_view image_type_name(const ImageShape& shape) {
  const auto* const found =
      std::find_if(k_images.begin(), k_images.end(),
                   [&](const NamedShape& candidate) { return candidate.shape == shape; });
  return found == k_images.end() ? "image" : found->name;
}

} // namespace

SpirvType SpirvTypes::find(std::uint32_t id) const {
  const auto found = m_types.find(id);
  return found == m_types.end() ? SpirvType{} : found->second;
}

std::string_view SpirvTypes::name_of(std::uint32_t id) const {
  const auto found = m_names.find(id);
  return found == m_names.end() ? std::string_view{} : found->second;
}

base::Result<std::string> SpirvTypes::type_name(std::uint32_t id, IntegerSign sign) const {
  std::string suffix;
  for (int nesting = 0; nesting <= k_max_type_nesting; ++nesting) {
    const SpirvType type = find(id);
    if (type.kind == SpirvTypeKind::pointer) {
      suffix.insert(0, "*");
    } else if (type.kind == SpirvTypeKind::vector) {
      suffix.insert(0, std::to_string(type.width));
    } else {
      return plain_name(id, type, sign) + suffix;
    }
    id = type.element;
  }
  return base::fail(base::ErrorCode::damaged, "type {} contains more than {} others", id,
                    k_max_type_nesting);
}

std::string SpirvTypes::plain_name(std::uint32_t id, const SpirvType& type,
                                   IntegerSign sign) const {
  switch (type.kind) {
  case SpirvTypeKind::integer:
    return integer_name(type.width, type.is_signed || sign == IntegerSign::with_sign);
  case SpirvTypeKind::floating:
    return float_name(type.width);
  case SpirvTypeKind::image:
    return std::string(image_type_name(type.image));
  case SpirvTypeKind::structure:
    return std::string(without_tag(name_of(id)));
  case SpirvTypeKind::opaque:
    return std::string(without_tag(type.opaque_name));
  default:
    return std::string(k_plain_names[static_cast<std::size_t>(type.kind)]);
  }
}

} // namespace clbin::format
