#include "format/bundle/signatures.hpp"
#include "inspect/bundle_summary.hpp"
#include "listing/launch_compilation.hpp"
#include "terminal/kernel_text.hpp"
#include "terminal/terminal_text.hpp"

#include <fmt/format.h>

namespace oclcc {

namespace format = clbin::format;

namespace {

std::string counted(std::uint64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

void append_line(std::string& text, std::size_t indent, std::string_view label,
                 std::string_view value) {
  text += fmt::format("{:{}}{:<10}{}\n", "", indent, label, printable(value));
}

void append_target(std::string& text, const format::TargetView& target) {
  if (target.origin == format::TargetOrigin::offline) {
    append_line(text, 4, "target", target.spec);
    return;
  }
  append_line(text, 4, "platform", target.platform_name);
  append_line(text, 4, "device", target.device_name);
  append_line(text, 4, "driver", target.driver_version);
}

void append_blob(std::string& text, const format::BlobView& blob) {
  const bool referring = blob.reference != format::k_no_index;
  append_line(text, 4, "size",
              fmt::format("{} bytes, {} stored{}", blob.raw_bytes, blob.stored_bytes,
                          referring ? " against another payload" : ""));
  append_line(text, 4, "digest", clbin::base::to_hex(blob.raw_digest));
}

void append_kernels(std::string& text, const EntrySummary& entry) {
  if (!entry.details) {
    for (const std::string& name : entry.entry.kernels) {
      append_line(text, 4, "kernel", name + "(...)");
    }
    return;
  }
  for (const format::KernelReflection& kernel : entry.details->kernels) {
    append_line(text, 4, "kernel", kernel_signature(kernel));
    for (const std::string& fact : kernel_facts(kernel)) {
      append_line(text, 4, "", "  " + fact);
    }
  }
}

void append_spec_constants(std::string& text, const EntrySummary& entry) {
  if (!entry.details) {
    return;
  }
  for (const format::SpecConstant& constant : entry.details->spec_constants) {
    append_line(text, 4, "constant",
                fmt::format("{}: {}{}{}, default 0x{:x}", constant.spec_id, constant.type_name,
                            constant.name.empty() ? "" : " ", constant.name,
                            constant.default_bits));
  }
}

void append_first_launch(std::string& text, const EntrySummary& entry) {
  if (!entry.details) {
    return;
  }
  const auto& kernels = entry.details->kernels;
  const auto compiled =
      clbin::listing::kernels_compiled_at_launch(entry.entry.target.family, kernels);
  if (!compiled || compiled->empty()) {
    return;
  }
  const std::string which = compiled->size() == kernels.size()
                                ? std::string("every kernel")
                                : fmt::format("'{}'", fmt::join(*compiled, "', '"));
  append_line(text, 4, "launch",
              fmt::format("the first launch of {} compiles; --specialize avoids it", which));
}

void append_entry(std::string& text, const EntrySummary& entry, const format::GroupView& group) {
  append_line(text, 2, "entry", format::describe(entry.entry));
  append_target(text, entry.entry.target);
  if (entry.blob) {
    append_blob(text, *entry.blob);
  }
  if (entry.entry.options != group.options) {
    append_line(text, 4, "options", entry.entry.options.empty() ? "none" : entry.entry.options);
  }
  append_kernels(text, entry);
  append_spec_constants(text, entry);
  append_first_launch(text, entry);
}

// Whether an encrypted bundle can be read.
enum class Contents : std::uint8_t { readable, locked };

std::string described_source(const GroupSummary& group, Contents contents) {
  if (group.group.source_blob == format::k_no_index) {
    return "not kept";
  }
  if (contents == Contents::locked) {
    return "kept, encrypted";
  }
  if (group.sources->empty()) {
    return "kept, but unreadable";
  }
  std::uint64_t bytes = 0;
  for (const SourceSummary& source : *group.sources) {
    bytes += source.bytes;
  }
  return fmt::format("kept: {}, {}", counted(group.sources->size(), "file", "files"),
                     counted(bytes, "byte", "bytes"));
}

void append_group(std::string& text, const GroupSummary& group, Contents contents) {
  text += fmt::format("\nprogram '{}', variant '{}'\n", printable(group.group.program),
                      printable(group.group.variant));
  append_line(text, 2, "options", group.group.options.empty() ? "none" : group.group.options);
  append_line(text, 2, "source", described_source(group, contents));
  for (const format::RecordedBuild& build : group.builds) {
    append_line(text, 2, "built on", build_text(build));
  }
  for (const std::string& launch : launch_texts(group.launches)) {
    append_line(text, 2, "launched", launch);
  }
  for (const EntrySummary& entry : group.entries) {
    append_entry(text, entry, group.group);
  }
}

void append_encryption(std::string& text, const BundleSummary& bundle) {
  if (!bundle.encryption) {
    return;
  }
  append_line(text, 2, "encrypted",
              fmt::format("with content key {}{}", to_hex(bundle.encryption->key_id),
                          bundle.encryption->is_key_given
                              ? ""
                              : ": contents are not shown without '--decrypt-key'"));
  for (const clbin::base::RecipientPublicKey& recipient : bundle.encryption->recipients) {
    append_line(text, 2, "recipient", to_hex(recipient));
  }
}

std::string_view verdict_on(bool holds) {
  return holds ? "holds" : "does not hold";
}

void append_signature(std::string& text, const format::TrailingRecord& record,
                      const clbin::base::Digest& root) {
  if (format::is_of_kind(record, format::TrailingKind::ed25519_signature)) {
    if (const auto read = format::read_signed<format::SignatureRecord>(record)) {
      append_line(text, 2, "signature",
                  fmt::format("by key {}: {}", to_hex(read->key), verdict_on(holds(*read, root))));
    }
  } else if (format::is_of_kind(record, format::TrailingKind::counter)) {
    if (const auto read = format::read_signed<format::CounterRecord>(record)) {
      append_line(text, 2, "counter",
                  fmt::format("{} by key {}: {}", read->counter, to_hex(read->key),
                              verdict_on(holds(*read, root))));
    }
  } else if (const auto read = format::read_signed<format::VouchRecord>(record)) {
    append_line(text, 2, "vouch",
                fmt::format("by key {} for key {}: {}", to_hex(read->old_key),
                            to_hex(read->new_key), verdict_on(holds(*read))));
  }
}

} // namespace

std::string info_text(const BundleSummary& bundle) {
  if (!bundle.head) {
    return {};
  }
  std::string text = fmt::format("{}: bundle of format {}.{}, {}, {}\n", printable(bundle.file),
                                 bundle.head->major, bundle.head->minor,
                                 counted(bundle.head->entry_count, "entry", "entries"),
                                 counted(bundle.head->total_bytes, "byte", "bytes"));
  append_line(text, 2, "digest", clbin::base::to_hex(bundle.head->root));
  append_encryption(text, bundle);
  for (const format::TrailingRecord& record : bundle.signatures) {
    append_signature(text, record, bundle.head->root);
  }
  const bool is_locked = bundle.encryption && !bundle.encryption->is_key_given;
  const Contents contents = is_locked ? Contents::locked : Contents::readable;
  for (const GroupSummary& group : bundle.groups) {
    append_group(text, group, contents);
  }
  return text;
}

} // namespace oclcc
