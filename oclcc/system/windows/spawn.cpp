#include "worker/spawn.hpp"

#include "base/system/windows/names.hpp"
#include "worker/driver_rules.hpp"
#include "worker/installed_devices.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <cwctype>
#include <map>
#include <psapi.h>

namespace oclcc::worker {

namespace windows = base::windows;

const char* const k_current_folder = ".";
const char* const k_pocl_folder = "./pocl";
const char* const k_cache_folder = "./cache";
const char* const k_temporary_folder = "./tmp";
const char* const k_vendors_folder = "./vendors";

namespace {

class OwnedHandle {
public:
  OwnedHandle() = default;
  explicit OwnedHandle(HANDLE handle)
      : m_handle(handle == INVALID_HANDLE_VALUE ? nullptr : handle) {}
  ~OwnedHandle() {
    if (m_handle != nullptr) {
      ::CloseHandle(m_handle);
    }
  }
  OwnedHandle(OwnedHandle&& other) noexcept : m_handle(std::exchange(other.m_handle, nullptr)) {}
  OwnedHandle& operator=(OwnedHandle other) noexcept {
    std::swap(m_handle, other.m_handle);
    return *this;
  }
  [[nodiscard]] HANDLE get() const noexcept { return m_handle; }
  explicit operator bool() const noexcept { return m_handle != nullptr; }

private:
  HANDLE m_handle = nullptr;
};

// What a pid_t points to. The system ends every process of the job when its last handle is closed,
// which it also does if this process dies.
struct Child {
  OwnedHandle process;
  OwnedHandle job;
};

Child* child_of(pid_t number) noexcept {
  return number <= 0 ? nullptr : reinterpret_cast<Child*>(number);
}

OwnedHandle inheritable(HANDLE handle) noexcept {
  HANDLE copy = nullptr;
  const bool is_made = ::DuplicateHandle(::GetCurrentProcess(), handle, ::GetCurrentProcess(),
                                         &copy, 0, TRUE, DUPLICATE_SAME_ACCESS) != 0;
  return OwnedHandle(is_made ? copy : nullptr);
}

OwnedHandle open_inheritable(const std::wstring& name, DWORD access, DWORD creation) noexcept {
  SECURITY_ATTRIBUTES security{sizeof security, nullptr, TRUE};
  return OwnedHandle(::CreateFileW(name.c_str(), access,
                                   FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                                   &security, creation, FILE_ATTRIBUTE_NORMAL, nullptr));
}

OwnedHandle make_job() noexcept {
  OwnedHandle job(::CreateJobObjectW(nullptr, nullptr));
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits{};
  limits.BasicLimitInformation.LimitFlags =
      JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION;
  if (job && ::SetInformationJobObject(job.get(), JobObjectExtendedLimitInformation, &limits,
                                       sizeof limits) == 0) {
    return OwnedHandle();
  }
  return job;
}

// Quotes a word as CommandLineToArgvW and the C runtime read it: backslashes count only before a
// quotation mark.
std::wstring quoted_word(std::wstring_view word) {
  if (!word.empty() && word.find_first_of(L" \t\n\v\"") == std::wstring_view::npos) {
    return std::wstring(word);
  }
  std::wstring text = L"\"";
  std::size_t backslashes = 0;
  for (const wchar_t letter : word) {
    text.append(letter == L'"' ? backslashes + 1 : 0, L'\\');
    backslashes = letter == L'\\' ? backslashes + 1 : 0;
    text += letter;
  }
  text.append(backslashes, L'\\');
  return text + L"\"";
}

std::wstring command_line(const std::vector<std::string>& words) {
  std::wstring line;
  for (const std::string& word : words) {
    line += (line.empty() ? L"" : L" ") + quoted_word(windows::to_wide(word));
  }
  return line;
}

// Variables as CreateProcessW expects them.
std::wstring environment_block(const std::vector<std::string>& variables) {
  std::wstring block;
  for (const std::string& variable : variables) {
    block += windows::to_wide(variable) + L'\0';
  }
  return block + L'\0';
}

// What the C runtime of the new process reads from STARTUPINFO.lpReserved2: the number of
// descriptors, their flags, and their handles.
std::vector<std::byte> descriptor_table(const std::map<int, OwnedHandle>& files) {
  constexpr std::byte k_open{0x01};
  constexpr std::byte k_pipe{0x08};
  const int count = files.empty() ? 0 : files.rbegin()->first + 1;
  const auto size = static_cast<std::size_t>(count);
  std::vector<std::byte> table(sizeof count + size * (1 + sizeof(HANDLE)));
  std::memcpy(table.data(), &count, sizeof count);
  for (int number = 0; number < count; ++number) {
    const auto found = files.find(number);
    HANDLE const handle = found == files.end() ? INVALID_HANDLE_VALUE : found->second.get();
    const auto place = static_cast<std::size_t>(number);
    if (found != files.end()) {
      const bool is_pipe = ::GetFileType(handle) == FILE_TYPE_PIPE;
      table[sizeof count + place] = is_pipe ? k_open | k_pipe : k_open;
    }
    std::memcpy(table.data() + sizeof count + size + place * sizeof handle, &handle, sizeof handle);
  }
  return table;
}

// A list of handles, so that no other handle is inherited.
class StartAttributes {
public:
  explicit StartAttributes(std::vector<HANDLE>& handles) {
    SIZE_T size = 0;
    (void)::InitializeProcThreadAttributeList(nullptr, 1, 0, &size);
    m_storage.resize(size);
    m_is_ready =
        ::InitializeProcThreadAttributeList(get(), 1, 0, &size) != 0 &&
        ::UpdateProcThreadAttribute(get(), 0, PROC_THREAD_ATTRIBUTE_HANDLE_LIST, handles.data(),
                                    handles.size() * sizeof(HANDLE), nullptr, nullptr) != 0;
  }
  ~StartAttributes() { ::DeleteProcThreadAttributeList(get()); }
  StartAttributes(StartAttributes&&) = delete; // and no copies

  [[nodiscard]] LPPROC_THREAD_ATTRIBUTE_LIST get() noexcept {
    return reinterpret_cast<LPPROC_THREAD_ATTRIBUTE_LIST>(m_storage.data());
  }
  [[nodiscard]] bool is_ready() const noexcept { return m_is_ready; }

private:
  std::vector<std::byte> m_storage;
  bool m_is_ready = false;
};

std::uint64_t bytes_of_one(HANDLE process) noexcept {
  PROCESS_MEMORY_COUNTERS counters{};
  return ::K32GetProcessMemoryInfo(process, &counters, sizeof counters) != 0
             ? counters.WorkingSetSize
             : 0;
}

constexpr std::size_t k_most_processes = 256;

struct ProcessList {
  JOBOBJECT_BASIC_PROCESS_ID_LIST head;
  std::array<ULONG_PTR, k_most_processes> further;
};

} // namespace

bool is_program(const std::filesystem::path& file) {
  std::error_code error;
  std::wstring ending = file.extension().native();
  std::ranges::transform(ending, ending.begin(), std::towlower);
  return (ending == L".exe" || ending == L".com") && std::filesystem::is_regular_file(file, error);
}

std::optional<std::filesystem::path> program_in(const std::filesystem::path& folder,
                                                std::string_view name) {
  for (const char* ending : {"", ".exe"}) {
    auto file = folder / base::to_path(std::string(name) + ending);
    if (is_program(file)) {
      return file;
    }
  }
  return std::nullopt;
}

void set_variable(std::vector<std::string>& variables, std::string_view name,
                  std::string_view value) {
  const std::string start = std::string(name) + "=";
  std::erase_if(variables, [&](const std::string& variable) {
    return variable.size() >= start.size() &&
           ::_strnicmp(variable.c_str(), start.c_str(), start.size()) == 0;
  });
  variables.push_back(start + std::string(value));
}

void set_temporary_folder(std::vector<std::string>& variables, const std::string& folder) {
  for (const char* name : {"TMP", "TEMP", "TMPDIR"}) {
    set_variable(variables, name, folder);
  }
}

Result<FileDescriptor> move_out_of_the_way(FileDescriptor file) {
  return file; // a new process gets copies of handles
}

Result<FileDescriptor> create_log(const std::filesystem::path& folder) {
  auto log = base::create_unnamed_file(folder);
  return log ? Result<FileDescriptor>(*std::move(log))
             : fail(ErrorCode::internal, "cannot open a file for another process: {}",
                    reason_of(log.error()));
}

struct Spawn::State {
  std::map<int, OwnedHandle> files;
  std::filesystem::path folder;
  int error = 0;

  void add(int number, OwnedHandle handle) {
    error = handle || error != 0 ? error : windows::errno_of(::GetLastError());
    files[number] = std::move(handle);
  }
};

Spawn::Spawn(DefaultSignals /*signals*/) : m_state(std::make_unique<State>()) {}
Spawn::~Spawn() = default;

void Spawn::open_null(int number) {
  m_state->add(number, open_inheritable(L"NUL", GENERIC_READ | GENERIC_WRITE, OPEN_EXISTING));
}

void Spawn::create(int number, const std::filesystem::path& path) {
  m_state->add(number, open_inheritable(windows::full_name(path), FILE_APPEND_DATA | SYNCHRONIZE,
                                        CREATE_ALWAYS));
}

void Spawn::duplicate(int number, int copy) {
  const auto known = m_state->files.find(number);
  m_state->add(copy, inheritable(known == m_state->files.end() ? windows::handle_of(number)
                                                               : known->second.get()));
}

void Spawn::close_from(int /*number*/) {} // only the files of the calls are inherited

void Spawn::change_folder(const std::filesystem::path& folder) {
  m_state->folder = folder;
}

void Spawn::lead_process_group() {}

tl::expected<pid_t, int> Spawn::start(const std::filesystem::path& program,
                                      std::vector<std::string> words,
                                      std::vector<std::string> variables) {
  if (m_state->error != 0) {
    return tl::unexpected(m_state->error);
  }
  std::vector<HANDLE> handles;
  for (const auto& [number, handle] : m_state->files) {
    handles.push_back(handle.get());
  }
  StartAttributes attributes(handles);
  const auto standard = [this](int number) {
    const auto found = m_state->files.find(number);
    return found == m_state->files.end() ? windows::handle_of(number) : found->second.get();
  };
  std::vector<std::byte> table = descriptor_table(m_state->files);
  STARTUPINFOEXW start{};
  start.StartupInfo.cb = sizeof start;
  start.StartupInfo.dwFlags = STARTF_USESTDHANDLES;
  start.StartupInfo.hStdInput = standard(base::k_standard_input);
  start.StartupInfo.hStdOutput = standard(base::k_standard_output);
  start.StartupInfo.hStdError = standard(base::k_standard_error);
  start.StartupInfo.cbReserved2 = static_cast<WORD>(table.size());
  start.StartupInfo.lpReserved2 = reinterpret_cast<BYTE*>(table.data());
  start.lpAttributeList = attributes.get();
  std::wstring line = command_line(words);
  std::wstring block = environment_block(variables);
  auto child = std::make_unique<Child>();
  child->job = make_job();
  PROCESS_INFORMATION made{};
  constexpr DWORD k_flags = CREATE_SUSPENDED | CREATE_UNICODE_ENVIRONMENT | CREATE_NO_WINDOW |
                            EXTENDED_STARTUPINFO_PRESENT;
  if (!attributes.is_ready() || !child->job ||
      ::CreateProcessW(program.c_str(), line.data(), nullptr, nullptr, TRUE, k_flags, block.data(),
                       m_state->folder.empty() ? nullptr : m_state->folder.c_str(),
                       &start.StartupInfo, &made) == 0) {
    return tl::unexpected(windows::errno_of(::GetLastError()));
  }
  child->process = OwnedHandle(made.hProcess);
  const OwnedHandle thread(made.hThread);
  if (!child->process || ::AssignProcessToJobObject(child->job.get(), made.hProcess) == 0) {
    ::TerminateProcess(made.hProcess, 1);
    return tl::unexpected(ENOEXEC);
  }
  ::ResumeThread(thread.get());
  return reinterpret_cast<pid_t>(child.release());
}

std::optional<int> wait_for(pid_t number) noexcept {
  const std::unique_ptr<Child> child(child_of(number));
  DWORD status = 0;
  if (!child || ::WaitForSingleObject(child->process.get(), INFINITE) != WAIT_OBJECT_0 ||
      ::GetExitCodeProcess(child->process.get(), &status) == 0) {
    return std::nullopt;
  }
  return static_cast<int>(status);
}

ProcessEnd end_of(int status) {
  constexpr std::uint32_t k_first_exception = 0xC0000000;
  const auto code = static_cast<std::uint32_t>(status);
  ProcessEnd end;
  if (code >= k_first_exception) {
    end.crash = fmt::format("exception 0x{:08X}", code);
  } else {
    end.exit_status = status;
  }
  return end;
}

void end_process(pid_t child) noexcept {
  end_group(child);
}

void end_group(pid_t leader) noexcept {
  constexpr UINT k_ended = 137; // as a shell reports SIGKILL
  if (const Child* const child = child_of(leader)) {
    ::TerminateJobObject(child->job.get(), k_ended);
  }
}

void bury_group(pid_t /*leader*/) noexcept {} // nobody waits for processes of a job

bool has_ended(pid_t number) noexcept {
  const Child* const child = child_of(number);
  return child == nullptr || ::WaitForSingleObject(child->process.get(), 0) == WAIT_OBJECT_0;
}

std::optional<std::uint64_t> resident_bytes(pid_t number) {
  const Child* const child = child_of(number);
  if (child == nullptr) {
    return std::nullopt;
  }
  std::uint64_t largest = bytes_of_one(child->process.get());
  ProcessList list{};
  if (::QueryInformationJobObject(child->job.get(), JobObjectBasicProcessIdList, &list, sizeof list,
                                  nullptr) != 0) {
    const ULONG_PTR* const first = list.head.ProcessIdList;
    for (DWORD i = 0; i < list.head.NumberOfProcessIdsInList; ++i) {
      const OwnedHandle process(
          ::OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, static_cast<DWORD>(first[i])));
      largest = std::max(largest, bytes_of_one(process.get()));
    }
  }
  return largest;
}

std::chrono::nanoseconds time_without_processor(pid_t /*number*/) {
  return {};
}

std::optional<std::uint64_t> default_memory_limit() {
  MEMORYSTATUSEX memory{};
  memory.dwLength = sizeof memory;
  return ::GlobalMemoryStatusEx(&memory) != 0
             ? std::optional<std::uint64_t>(memory.ullTotalPhys / 4 * 3)
             : std::nullopt;
}

std::optional<std::uint64_t> address_space_limit() {
  return std::nullopt;
}

// The registry names the drivers, and nothing makes the loader see one of them only.
std::vector<std::string> installed_driver_libraries() {
  return {};
}

std::string load_failures(const std::vector<std::string>& /*libraries*/) {
  return {};
}

} // namespace oclcc::worker
