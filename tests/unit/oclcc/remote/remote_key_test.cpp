// The keys that all machines compute. Two folders are two machines.
#include "units/recipes.hpp"

#include "base/file_io.hpp"
#include "support/sample_identities.hpp"
#include "targets/tools.hpp"

#include <CL/cl.h>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <set>

namespace oclcc::remote {
namespace {

using clbin::base::Digest;
using clbin::cache::CacheSettings;

constexpr const char* k_cpuinfo = "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\n"
                                  "model\t\t: 85\nmodel name\t: Xeon\ncpu MHz\t\t: 2100.0\n"
                                  "flags\t\t: fpu avx avx2\n\n"
                                  "processor\t: 1\nvendor_id\t: GenuineIntel\ncpu family\t: 6\n"
                                  "model\t\t: 85\nmodel name\t: Xeon\ncpu MHz\t\t: 1900.0\n"
                                  "flags\t\t: fpu avx avx2\n\n";

// A machine with its files, and what is built on it.
class Machine {
public:
  Machine() {
    write("oclcc", "the bytes of oclcc");
    write("libdriver.so", "the bytes of the driver");
    source.main = {"k.cl", "src/k.cl", "kernel void k() {}\n"};
    source.headers = {{"a.h", "inc/a.h", "#define A 1\n"}};
  }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
  }
  [[nodiscard]] std::filesystem::path path(const std::string& name) const {
    return m_folder.path() / name;
  }

  [[nodiscard]] std::optional<Digest> key() {
    targets.resize(1);
    ContentDigests digests{CacheSettings()};
    if (is_offline) {
      targets[0].target.origin = clbin::format::TargetOrigin::offline;
      targets[0].target.spec = "nvptx:sm_70";
      const offline::ToolPaths tools{{"clang", path("clang")}};
      targets[0].shared_facts = offline::shared_ingredients_of(tools, digests);
    } else {
      worker::DeviceDescription device;
      device.type = type;
      device.driver_library = path("libdriver.so").string();
      device.identity = identity;
      targets[0].device = device;
      targets[0].target.identity = identity;
    }
    add_driver_facts(targets, &digests, cpuinfo);
    Unit unit;
    unit.options = options;
    unit.source = std::make_shared<const clbin::format::SourcePackage>(source);
    return remote_key(unit, targets[0], shared_facts(facts, path("oclcc"), digests));
  }

  clbin::format::SourcePackage source;
  BuildOptions options{{"-DX=1"}};
  clbin::format::DeviceIdentity identity = clbin::test::unknown_identity("Device");
  std::uint64_t type = CL_DEVICE_TYPE_CPU;
  CompilerFacts facts{"0.1.0", "200 bytes, changed at 2", {{"LD_PRELOAD", "a.so"}}};
  std::string cpuinfo = k_cpuinfo;
  bool is_offline = false;
  std::vector<BuildTarget> targets;

private:
  clbin::base::TemporaryFolder m_folder =
      clbin::base::TemporaryFolder::create({}, "oclcc-machine-").value();
};

TEST(RemoteKey, IsTheSameOnTwoMachinesWithTheSameFilesAtOtherPlacesAndTimes) {
  Machine one;
  Machine other;
  other.facts.executable = "200 bytes, changed at 99";
  other.source.main.display_name = "/home/other/k.cl";
  std::filesystem::last_write_time(other.path("libdriver.so"),
                                   std::filesystem::file_time_type() + std::chrono::hours(1));
  other.cpuinfo = "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\n"
                  "cpu MHz\t\t: 3000.0\nflags\t\t: avx2  avx fpu\n";
  ASSERT_TRUE(one.key());
  EXPECT_EQ(one.key(), other.key());
}

TEST(RemoteKey, DiffersIfAnythingDiffersThatABinaryDependsOn) {
  const std::vector<std::function<void(Machine&)>> changes = {
      [](Machine&) {},
      [](Machine& machine) { machine.write("oclcc", "the bytes of OCLCC"); },
      [](Machine& machine) { machine.write("libdriver.so", "the bytes of The driver"); },
      [](Machine& machine) { machine.options = BuildOptions({"-DX=2"}); },
      [](Machine& machine) { machine.source.main.text += "\n"; },
      [](Machine& machine) { machine.source.headers[0].text += "\n"; },
      [](Machine& machine) { machine.source.headers[0].include_name = "b.h"; },
      [](Machine& machine) { machine.identity.driver_version = "2"; },
      [](Machine& machine) { machine.identity.device_name = "other"; },
      [](Machine& machine) { machine.facts.version = "0.2.0"; },
      [](Machine& machine) { machine.facts.environment[0].value = "b.so"; },
      [](Machine& machine) { machine.cpuinfo += "flags\t\t: fpu avx\n"; },
      [](Machine& machine) {
        machine.cpuinfo = "vendor_id : GenuineIntel\nflags : fpu avx avx2\n";
      },
      [](Machine& machine) { machine.type = CL_DEVICE_TYPE_GPU; },
  };
  std::set<Digest> keys;
  for (const auto& change : changes) {
    Machine machine;
    change(machine);
    const auto key = machine.key();
    ASSERT_TRUE(key);
    EXPECT_TRUE(keys.insert(*key).second) << keys.size();
  }
}

TEST(RemoteKey, DoesNotDependOnTheProcessorIfTheDeviceIsNone) {
  Machine one;
  Machine other;
  one.type = other.type = CL_DEVICE_TYPE_GPU;
  other.cpuinfo = "flags : none\n";
  ASSERT_TRUE(one.key());
  EXPECT_EQ(one.key(), other.key());
}

TEST(RemoteKey, DoesNotExistIfAFileOfTheCompilerCannotBeRead) {
  Machine machine;
  std::filesystem::remove(machine.path("libdriver.so"));
  EXPECT_FALSE(machine.key());
  Machine other;
  std::filesystem::remove(other.path("oclcc"));
  EXPECT_FALSE(other.key());
  Machine third;
  third.cpuinfo = "";
  EXPECT_FALSE(third.key());
}

TEST(RemoteKey, CoversTheCompilersOfAnOfflineTargetByTheirContents) {
  const auto key_with = [](const std::string& clang, const std::string& library) {
    Machine machine;
    machine.is_offline = true;
    std::filesystem::create_directories(machine.path("bin"));
    std::filesystem::create_directories(machine.path("lib"));
    machine.write("bin/clang", clang);
    std::filesystem::permissions(machine.path("bin/clang"), std::filesystem::perms::owner_all);
    machine.write("lib/libLLVM-15.so.1", library);
    std::filesystem::create_symlink(machine.path("bin/clang"), machine.path("clang"));
    return machine.key();
  };
  const auto first = key_with("clang", "llvm");
  ASSERT_TRUE(first);
  EXPECT_EQ(key_with("clang", "llvm"), first);
  EXPECT_NE(key_with("clanG", "llvm"), first);
  EXPECT_NE(key_with("clang", "llvM"), first);
  Machine without;
  without.is_offline = true;
  EXPECT_FALSE(without.key());
}

TEST(RemoteKey, OfAConvertedBinaryCoversItsInputAndItsTool) {
  Machine machine;
  const std::optional<Digest> input = machine.key();
  machine.targets[0].shared_facts = {{"ptxas", "digest", clbin::cache::ShowValue::no}};
  const auto key_of = [&](const std::optional<Digest>& of) {
    return converted_remote_key(of, machine.targets[0]);
  };
  const auto first = key_of(input);
  ASSERT_TRUE(first);
  EXPECT_NE(key_of(Digest()), first);
  EXPECT_FALSE(key_of(std::nullopt));
  machine.targets[0].shared_facts->front().value = "other";
  EXPECT_NE(key_of(input), first);
  machine.targets[0].shared_facts.reset();
  EXPECT_FALSE(key_of(input));
}

TEST(Processor, IsDescribedByItsModelAndSortedFeatures) {
  EXPECT_EQ(processor_of(k_cpuinfo), "cpu family: 6\nflags: avx avx2 fpu\nmodel: 85\n"
                                     "vendor_id: GenuineIntel");
  EXPECT_EQ(processor_of("processor : 0\nFeatures : fp asimd\nCPU implementer : 0x41\n"
                         "CPU part : 0xd0c\nCPU revision : 1\n"),
            "CPU implementer: 0x41\nCPU part: 0xd0c\nFeatures: asimd fp");
  EXPECT_EQ(processor_of("vendor_id : x\n"), std::nullopt);
  EXPECT_EQ(processor_of(""), std::nullopt);
}

} // namespace
} // namespace oclcc::remote
