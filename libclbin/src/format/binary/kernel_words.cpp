#include "format/binary/kernel_words.hpp"

namespace clbin::format {

std::string_view address_space_name(AddressSpace space) noexcept {
  switch (space) {
  case AddressSpace::global:
    return "global";
  case AddressSpace::local:
    return "local";
  case AddressSpace::constant:
    return "constant";
  case AddressSpace::private_:
    break;
  }
  return "private";
}

std::string_view access_name(AccessQualifier access) noexcept {
  switch (access) {
  case AccessQualifier::read_only:
    return "read_only";
  case AccessQualifier::write_only:
    return "write_only";
  case AccessQualifier::read_write:
    return "read_write";
  case AccessQualifier::none:
    break;
  }
  return {};
}

} // namespace clbin::format
