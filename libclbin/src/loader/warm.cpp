#include "loader/load_program.hpp"

#include <fmt/format.h>

namespace clbin::loader {

namespace {

bool has_answers(const format::BundleReader& bundle, const LoadRequest& request) {
  const auto group = bundle.find_group(request.program, request.variant);
  const auto manifest = group ? bundle.read_manifest(*group)
                              : Result<format::Manifest>(tl::unexpected(group.error()));
  return manifest && std::ranges::any_of(manifest->answers, [&](const auto& answer) {
           return answer.variant == request.variant;
         });
}

// Why the user cache does not contain what was built; empty if it does, or if libclbin stores
// nothing of this kind.
std::string why_not_stored(ProgramCache& cache, const LoadReport& report) {
  cache.stores.drain();
  std::string warning = cache.stores.take_warning();
  return !report.is_kept && report.has_cache_warning
             ? fmt::format("{}", fmt::join(report.warnings, "; "))
             : warning;
}

} // namespace

base::Result<void> warm_variant(const opencl::Driver& driver, const format::BundleReader& bundle,
                                ProgramCache& cache, cl_context context, LoadRequest request,
                                LoadReport& report, const PackSet* packs) {
  static constexpr AnswerCheck k_once{AnswerCheck::When::once, check_answers};
  request.answers = &k_once;
  CLBIN_TRY(load_program(driver, bundle, cache, context, request, report, packs));
  if (report.origin != Origin::source && report.origin != Origin::il) {
    return {};
  }
  if (const std::string why = why_not_stored(cache, report); !why.empty()) {
    return base::fail(ErrorCode::file_write, "what was built is not in the user cache: {}", why);
  }
  if (has_answers(bundle, request)) {
    LoadReport of_stored;
    request.take_binary = {};
    request.on_attempt = {};
    (void)load_program(driver, bundle, cache, context, request, of_stored, packs);
  }
  return {};
}

} // namespace clbin::loader
