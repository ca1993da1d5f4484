// A specialization constant of a SPIR-V module.
#pragma once

#include <cstdint>
#include <string>

namespace clbin::format {

struct SpecConstant {
  std::uint32_t spec_id = 0;      // the number that clSetProgramSpecializationConstant uses
  std::string name;               // empty if the module contains no names
  std::string type_name;          // "int", "long", "float", "bool": SPIR-V integers have no sign
  std::uint32_t size_bytes = 0;   // as the driver expects; 1 for bool
  std::uint64_t default_bits = 0; // of the default value, zero-extended
  friend bool operator==(const SpecConstant&, const SpecConstant&) = default;
};

} // namespace clbin::format
