#include "format/binary/spirv_features.hpp"

#include "base/json_document.hpp"

#include <fmt/format.h>

namespace clbin::format {

namespace {

constexpr std::pair<std::uint32_t, std::string_view> k_capabilities[] = {
    {0, "Matrix"},
    {1, "Shader"},
    {4, "Addresses"},
    {5, "Linkage"},
    {6, "Kernel"},
    {7, "Vector16"},
    {8, "Float16Buffer"},
    {9, "Float16"},
    {10, "Float64"},
    {11, "Int64"},
    {12, "Int64Atomics"},
    {13, "ImageBasic"},
    {14, "ImageReadWrite"},
    {15, "ImageMipmap"},
    {17, "Pipes"},
    {18, "Groups"},
    {19, "DeviceEnqueue"},
    {20, "LiteralSampler"},
    {22, "Int16"},
    {38, "GenericPointer"},
    {39, "Int8"},
    {43, "Sampled1D"},
    {44, "Image1D"},
    {46, "SampledBuffer"},
    {47, "ImageBuffer"},
    {50, "ImageQuery"},
    {58, "SubgroupDispatch"},
    {59, "NamedBarrier"},
    {60, "PipeStorage"},
    {61, "GroupNonUniform"},
    {62, "GroupNonUniformVote"},
    {63, "GroupNonUniformArithmetic"},
    {64, "GroupNonUniformBallot"},
    {65, "GroupNonUniformShuffle"},
    {66, "GroupNonUniformShuffleRelative"},
    {67, "GroupNonUniformClustered"},
    {4464, "DenormPreserve"},
    {4465, "DenormFlushToZero"},
    {4466, "SignedZeroInfNanPreserve"},
    {4467, "RoundingModeRTE"},
    {4468, "RoundingModeRTZ"},
    {5055, "ShaderClockKHR"},
    {5568, "SubgroupShuffleINTEL"},
    {5569, "SubgroupBufferBlockIOINTEL"},
    {5570, "SubgroupImageBlockIOINTEL"},
    {5603, "FunctionPointersINTEL"},
    {5604, "IndirectReferencesINTEL"},
    {5606, "AsmINTEL"},
    {5612, "AtomicFloat32MinMaxEXT"},
    {5613, "AtomicFloat64MinMaxEXT"},
    {5616, "AtomicFloat16MinMaxEXT"},
    {5629, "ExpectAssumeKHR"},
    {6016, "DotProductInputAll"},
    {6017, "DotProductInput4x8Bit"},
    {6018, "DotProductInput4x8BitPacked"},
    {6019, "DotProduct"},
    {6025, "BitInstructions"},
    {6026, "GroupNonUniformRotateKHR"},
    {6033, "AtomicFloat32AddEXT"},
    {6034, "AtomicFloat64AddEXT"},
    {6095, "AtomicFloat16AddEXT"},
    {6400, "GroupUniformArithmeticKHR"},
};

// Returns the first item that is not in `accepted`; null if there is none.
template <typename Item>
const Item* first_missing(const std::vector<Item>& required, const std::vector<Item>& accepted) {
  const auto missing = std::ranges::find_if(required, [&](const Item& item) {
    return std::ranges::find(accepted, item) == accepted.end();
  });
  return missing == required.end() ? nullptr : &*missing;
}

} // namespace

std::string spirv_capability_name(std::uint32_t capability) {
  const auto* const found =
      std::ranges::find(k_capabilities, capability, [](const auto& row) { return row.first; });
  return found == std::end(k_capabilities) ? std::to_string(capability)
                                           : std::string(found->second);
}

std::string missing_spirv_feature(const SpirvFeatures& required, const SpirvFeatures& accepted) {
  if (const auto* const one = first_missing(required.capabilities, accepted.capabilities)) {
    return fmt::format("the capability {}", spirv_capability_name(*one));
  }
  if (const auto* const one = first_missing(required.extensions, accepted.extensions)) {
    return fmt::format("the extension {}", base::printable_excerpt(*one));
  }
  if (const auto* const one = first_missing(required.instruction_sets, accepted.instruction_sets)) {
    return fmt::format("the instruction set {}", base::printable_excerpt(*one));
  }
  if (const std::uint32_t model = required.addressing_model; model != accepted.addressing_model) {
    constexpr std::string_view k_models[]{"Logical", "Physical32", "Physical64"};
    return fmt::format("the addressing model {}",
                       model < std::size(k_models) ? k_models[model] : std::to_string(model));
  }
  return {};
}

} // namespace clbin::format
