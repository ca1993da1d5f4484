// Apply the rows of the option table to Options. `value` is the argument of the option, or empty.
// Return invalid_argument, with the option and the accepted values, if the value or a previous
// option does not allow it.
#pragma once

#include "command_line/options.hpp"

#include <string>

namespace oclcc {

// Sets the mode. --help and --version override every other mode; any other two modes conflict.
[[nodiscard]] clbin::base::Result<void> enter_mode(Options& options, Mode mode);

template <Mode mode>
[[nodiscard]] clbin::base::Result<void> enter(Options& options, const std::string&) {
  return enter_mode(options, mode);
}

template <auto member, auto constant>
[[nodiscard]] clbin::base::Result<void> set_constant(Options& options, const std::string&) {
  options.*member = constant;
  return {};
}

// The last occurrence of the option applies.
template <auto member>
[[nodiscard]] clbin::base::Result<void> set_value(Options& options, const std::string& value) {
  options.*member = value;
  return {};
}

// All occurrences of the option apply, in their order.
template <auto member>
[[nodiscard]] clbin::base::Result<void> append_value(Options& options, const std::string& value) {
  (options.*member).emplace_back(value);
  return {};
}

// Only enters the mode if `value` is empty.
[[nodiscard]] clbin::base::Result<void> apply_help(Options& options, const std::string& value);
[[nodiscard]] clbin::base::Result<void> apply_define(Options& options, const std::string& value);
[[nodiscard]] clbin::base::Result<void> apply_undefine(Options& options, const std::string& value);
[[nodiscard]] clbin::base::Result<void> apply_syntax_only(Options& options,
                                                          const std::string& value);
[[nodiscard]] clbin::base::Result<void> apply_language(Options& options, const std::string& value);
[[nodiscard]] clbin::base::Result<void> apply_emit(Options& options, const std::string& value);
[[nodiscard]] clbin::base::Result<void> apply_tool(Options& options, const std::string& value);
[[nodiscard]] clbin::base::Result<void> apply_device_option(Options& options,
                                                            const std::string& value);
[[nodiscard]] clbin::base::Result<void> apply_prefix_map(Options& options,
                                                         const std::string& value);
[[nodiscard]] clbin::base::Result<void> apply_rule_beside(Options& options,
                                                          const std::string& value);
[[nodiscard]] clbin::base::Result<void> apply_quoted_depfile_target(Options& options,
                                                                    const std::string& value);
[[nodiscard]] clbin::base::Result<void> apply_program(Options& options, const std::string& value);
[[nodiscard]] clbin::base::Result<void> apply_variant(Options& options, const std::string& value);
[[nodiscard]] clbin::base::Result<void> apply_symbol(Options& options, const std::string& value);
[[nodiscard]] clbin::base::Result<void> apply_host_triple(Options& options,
                                                          const std::string& value);
[[nodiscard]] clbin::base::Result<void> apply_specialize(Options& options,
                                                         const std::string& value);
[[nodiscard]] clbin::base::Result<void> apply_record(Options& options, const std::string& value);
[[nodiscard]] clbin::base::Result<void> apply_keygen(Options& options, const std::string& value);
[[nodiscard]] clbin::base::Result<void> apply_plan(Options& options, const std::string& value);
[[nodiscard]] clbin::base::Result<void> apply_unit(Options& options, const std::string& value);
[[nodiscard]] clbin::base::Result<void> apply_key(Options& options, const std::string& value);
[[nodiscard]] clbin::base::Result<void> apply_sign_key(Options& options, const std::string& value);
[[nodiscard]] clbin::base::Result<void> apply_public_key(Options& options,
                                                         const std::string& value);
[[nodiscard]] clbin::base::Result<void> apply_sign_with(Options& options, const std::string& value);
[[nodiscard]] clbin::base::Result<void> apply_counter(Options& options, const std::string& value);
[[nodiscard]] clbin::base::Result<void> apply_least_counter(Options& options,
                                                            const std::string& value);
[[nodiscard]] clbin::base::Result<void> apply_vouched_by(Options& options,
                                                         const std::string& value);
[[nodiscard]] clbin::base::Result<void> apply_passphrase_file(Options& options,
                                                              const std::string& value);
[[nodiscard]] clbin::base::Result<void> apply_key_type(Options& options, const std::string& value);
[[nodiscard]] clbin::base::Result<void> apply_encrypt_key(Options& options,
                                                          const std::string& value);
[[nodiscard]] clbin::base::Result<void> apply_encrypt_for(Options& options,
                                                          const std::string& value);
[[nodiscard]] clbin::base::Result<void> apply_decrypt_key(Options& options,
                                                          const std::string& value);
[[nodiscard]] clbin::base::Result<void> apply_jobs(Options& options, const std::string& value);
[[nodiscard]] clbin::base::Result<void> apply_timeout(Options& options, const std::string& value);
[[nodiscard]] clbin::base::Result<void> apply_memory_limit(Options& options,
                                                           const std::string& value);
[[nodiscard]] clbin::base::Result<void> apply_color(Options& options, const std::string& value);
[[nodiscard]] clbin::base::Result<void> apply_diagnostics_format(Options& options,
                                                                 const std::string& value);

} // namespace oclcc
