// In a file of its own: whoever links it from an archive also links what reads manifests.
#include "c_api.hpp"

using clbin::loader::AnswerCheck;
using When = AnswerCheck::When;

static_assert(CLBIN_ANSWERS_ONCE == static_cast<int>(When::once));
static_assert(CLBIN_ANSWERS_ALWAYS == static_cast<int>(When::always));

const clbin_answer_check* clbin_check_answers(clbin_answers when) {
  static constexpr clbin_answer_check k_once{{When::once, clbin::loader::check_answers}};
  static constexpr clbin_answer_check k_always{{When::always, clbin::loader::check_answers}};
  static constexpr clbin_answer_check k_invalid{{When::once, nullptr}};
  switch (when) {
  case CLBIN_ANSWERS_NEVER:
    return nullptr;
  case CLBIN_ANSWERS_ONCE:
    return &k_once;
  case CLBIN_ANSWERS_ALWAYS:
    return &k_always;
  }
  return &k_invalid;
}
