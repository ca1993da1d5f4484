// OpenCL C names of the types of a SPIR-V module.
#pragma once

#include "base/result.hpp"
#include "model/kernel.hpp"

namespace clbin::format {

// SPIR-V specification, 3.49.6 "Type-Declaration Instructions".
enum class SpirvTypeKind : std::uint8_t {
  none,
  void_,
  boolean,
  integer,
  floating,
  vector,
  image,
  sampler,
  array,
  structure,
  opaque,
  pointer,
  untyped_pointer,
  event,
  reserve_id,
  queue,
  pipe,
};

// Operands of OpTypeImage. `dimensionality` is a number of the SPIR-V specification, 3.8 "Dim".
struct ImageShape {
  std::uint32_t dimensionality = 0;
  bool is_depth = false;
  bool is_arrayed = false;
  bool is_multisampled = false;
  friend bool operator==(const ImageShape&, const ImageShape&) = default;
};

struct SpirvType {
  SpirvTypeKind kind = SpirvTypeKind::none;
  std::uint32_t element = 0;       // id of the type of a vector's components or a pointer's target
  std::uint32_t width = 0;         // bits of a number, components of a vector
  std::uint32_t storage_class = 0; // of a pointer
  bool is_signed = false;          // integers: always false in OpenCL
  ImageShape image;
  AccessQualifier access = AccessQualifier::none; // of an image or a pipe
  std::string_view opaque_name;
};

enum class IntegerSign : std::uint8_t { with_sign, without_sign };

// Types by id. Not thread-safe. Texts are valid as long as the module.
class SpirvTypes {
public:
  // Adds a type. If the id already has a type, does nothing.
  void add(std::uint32_t id, const SpirvType& type) { m_types.emplace(id, type); }
  // Adds the name of an OpName.
  void add_name(std::uint32_t id, std::string_view name) { m_names.emplace(id, name); }
  // Returns `none` for an id that is not a type.
  [[nodiscard]] SpirvType find(std::uint32_t id) const;
  // Returns an empty text for an id without a name.
  [[nodiscard]] std::string_view name_of(std::uint32_t id) const;

  // Returns a name such as "float4*", or "pair" for the structure "struct.pair". Integers have no
  // sign in OpenCL's SPIR-V; `sign` determines it in the name. Error: damaged, if more than 16
  // pointers and vectors are nested.
  [[nodiscard]] base::Result<std::string> type_name(std::uint32_t id, IntegerSign sign) const;

private:
  [[nodiscard]] std::string plain_name(std::uint32_t id, const SpirvType& type,
                                       IntegerSign sign) const;

  std::map<std::uint32_t, SpirvType> m_types;
  std::map<std::uint32_t, std::string_view> m_names;
};

} // namespace clbin::format
