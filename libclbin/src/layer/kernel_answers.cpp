#include "layer/kernel_answers.hpp"

#include "layer/layer.hpp"

namespace clbin::layer {
namespace {

using format::AccessQualifier;
using format::AddressSpace;
using format::KernelArgument;

cl_kernel_arg_address_qualifier address_of(AddressSpace space) {
  switch (space) {
  case AddressSpace::global:
    return CL_KERNEL_ARG_ADDRESS_GLOBAL;
  case AddressSpace::local:
    return CL_KERNEL_ARG_ADDRESS_LOCAL;
  case AddressSpace::constant:
    return CL_KERNEL_ARG_ADDRESS_CONSTANT;
  case AddressSpace::private_:
    break;
  }
  return CL_KERNEL_ARG_ADDRESS_PRIVATE;
}

cl_kernel_arg_access_qualifier access_of(AccessQualifier access) {
  switch (access) {
  case AccessQualifier::read_only:
    return CL_KERNEL_ARG_ACCESS_READ_ONLY;
  case AccessQualifier::write_only:
    return CL_KERNEL_ARG_ACCESS_WRITE_ONLY;
  case AccessQualifier::read_write:
    return CL_KERNEL_ARG_ACCESS_READ_WRITE;
  case AccessQualifier::none:
    break;
  }
  return CL_KERNEL_ARG_ACCESS_NONE;
}

cl_kernel_arg_type_qualifier type_qualifiers_of(const KernelArgument& argument) {
  return (argument.is_const ? CL_KERNEL_ARG_TYPE_CONST : 0U) |
         (argument.is_restrict ? CL_KERNEL_ARG_TYPE_RESTRICT : 0U) |
         (argument.is_volatile ? CL_KERNEL_ARG_TYPE_VOLATILE : 0U) |
         (argument.is_pipe ? CL_KERNEL_ARG_TYPE_PIPE : 0U);
}

} // namespace

const format::KernelReflection* reflection_of(const TrackedKernel& kernel) {
  return kernel.substitute->kernel(kernel.name);
}

cl_int answer_argument(const std::vector<KernelArgument>& arguments, cl_uint index,
                       const ArgumentQuery& query) {
  if (index >= arguments.size()) {
    return CL_INVALID_ARG_INDEX;
  }
  const KernelArgument& argument = arguments[index];
  switch (query.name) {
  case CL_KERNEL_ARG_ADDRESS_QUALIFIER:
    return answer_value(address_of(argument.address_space), query.size, query.value,
                        query.size_ret);
  case CL_KERNEL_ARG_ACCESS_QUALIFIER:
    return answer_value(access_of(argument.access), query.size, query.value, query.size_ret);
  case CL_KERNEL_ARG_TYPE_QUALIFIER:
    return answer_value(type_qualifiers_of(argument), query.size, query.value, query.size_ret);
  case CL_KERNEL_ARG_TYPE_NAME:
    return answer_text(argument.type_name, query.size, query.value, query.size_ret);
  case CL_KERNEL_ARG_NAME:
    return answer_text(argument.name, query.size, query.value, query.size_ret);
  default:
    return CL_INVALID_VALUE;
  }
}

} // namespace clbin::layer
