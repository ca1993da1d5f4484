// The bytes of a small ELF file, as a linker would write its tables.
#pragma once

#include <elf.h>
#include <string>
#include <utility>
#include <vector>

namespace clbin::test {

struct SampleElf {
  std::string name;                // DT_SONAME
  std::vector<std::string> needed; // DT_NEEDED
  std::string build_id;            // its bytes; no note if empty
  std::string contents{};          // follows the tables
};

template <typename T>
void append_raw(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

inline std::string elf_notes(const std::string& build_id) {
  std::string notes;
  append_raw(notes, Elf64_Nhdr{4, 1, NT_GNU_ABI_TAG});
  notes.append("GNU\0x\0\0\0", 8); // a value that needs padding
  append_raw(notes, Elf64_Nhdr{4, static_cast<Elf64_Word>(build_id.size()), NT_GNU_BUILD_ID});
  notes.append("GNU\0", 4);
  return build_id.empty() ? std::string() : notes + build_id;
}

inline std::string elf_bytes(const SampleElf& sample) {
  constexpr Elf64_Addr k_address = 0x10000;
  constexpr std::size_t k_segments = 3;
  constexpr std::size_t k_dynamic = sizeof(Elf64_Ehdr) + k_segments * sizeof(Elf64_Phdr);
  std::string strings(1, '\0');
  std::vector<std::pair<Elf64_Sxword, Elf64_Xword>> entries;
  const auto add_name = [&](Elf64_Sxword tag, const std::string& name) {
    entries.emplace_back(tag, strings.size());
    strings += name + '\0';
  };
  for (const std::string& name : sample.needed) {
    add_name(DT_NEEDED, name);
  }
  if (!sample.name.empty()) {
    add_name(DT_SONAME, sample.name);
  }
  const std::size_t dynamic_bytes = (entries.size() + 2) * sizeof(Elf64_Dyn);
  const std::size_t notes_offset = k_dynamic + dynamic_bytes;
  const std::string notes = elf_notes(sample.build_id);
  entries.emplace_back(DT_STRTAB, k_address + notes_offset + notes.size());
  entries.emplace_back(DT_NULL, 0);

  Elf64_Ehdr header{};
  std::string(ELFMAG).copy(reinterpret_cast<char*>(header.e_ident), SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_type = ET_DYN;
  header.e_phoff = sizeof(Elf64_Ehdr);
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = k_segments;
  const std::size_t size = notes_offset + notes.size() + strings.size();
  std::string bytes;
  append_raw(bytes, header);
  append_raw(bytes, Elf64_Phdr{PT_LOAD, 0, 0, k_address, 0, size, size, 1});
  append_raw(bytes, Elf64_Phdr{PT_DYNAMIC, 0, k_dynamic, 0, 0, dynamic_bytes, dynamic_bytes, 8});
  append_raw(bytes, Elf64_Phdr{PT_NOTE, 0, notes_offset, 0, 0, notes.size(), notes.size(), 4});
  for (const auto& [tag, value] : entries) {
    append_raw(bytes, tag);
    append_raw(bytes, value);
  }
  return bytes + notes + strings + sample.contents;
}

} // namespace clbin::test
