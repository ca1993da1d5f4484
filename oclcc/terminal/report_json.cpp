#include "terminal/report_json.hpp"

#include "terminal/terminal_text.hpp"

namespace oclcc {

std::string report_json(clbin::base::JsonObject members) {
  members["version"] = {k_report_version};
  return printable_json(
      clbin::base::write_json({std::move(members)}, clbin::base::JsonLayout::indented));
}

} // namespace oclcc
