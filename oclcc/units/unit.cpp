#include "units/unit.hpp"

namespace oclcc {

bool is_built(const UnitResult& result) {
  return result.reply && result.reply->error.empty() && result.reply->cl_code == 0;
}

} // namespace oclcc
