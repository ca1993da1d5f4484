#include "source/words.hpp"

#include <gtest/gtest.h>
#include <random>

namespace clbin::source {
namespace {

// What is left, without the blanks.
std::string left_of(std::string_view text, const std::set<std::string>& names) {
  const std::string all = without_functions(text, names);
  EXPECT_EQ(all.size(), text.size());
  std::string left;
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_TRUE(all[i] == text[i] || all[i] == ' ') << i;
    EXPECT_EQ(all[i] == '\n', text[i] == '\n') << i;
    left += all[i] == ' ' || all[i] == '\n' ? "" : std::string(1, all[i]);
  }
  return left;
}

TEST(KernelRemoval, RemovesDefinitionsAndDeclarationsWithTheirAttributes) {
  EXPECT_EQ(
      left_of("int f(int x) { return x; }\n"
              "__kernel __attribute__((reqd_work_group_size(8, 1, 1)))\n"
              "void a(global int* p) { local int l[8]; if (*p) { l[0] = f(1); } *p = l[0]; }\n"
              "kernel void b(global int* p) { *p = f(2); }\n",
              {"a"}),
      "intf(intx){returnx;}kernelvoidb(globalint*p){*p=f(2);}");
  EXPECT_EQ(
      left_of("kernel void a(int x);\nint n;\nkernel void a(int x) {}\nkernel void b() {}", {"a"}),
      "intn;kernelvoidb(){}");
  EXPECT_EQ(left_of("KERNEL_FQ KERNEL_FA void a(KERN_ATTR(x, (y))) { m(); }", {"a"}), "");
  EXPECT_EQ(left_of("kernel void a() {}", {"none"}), "kernelvoida(){}");
  EXPECT_EQ(left_of("kernel void a() {}", {}), "kernelvoida(){}");
}

TEST(KernelRemoval, KeepsDirectivesSoThatMacrosAndConditionsStay) {
  EXPECT_EQ(left_of("#define N 1\n"
                    "#if N == 1\n__kernel\n#else\n__kernel __attribute__((x))\n#endif\n"
                    "void a() {\n"
                    "#ifdef A\n  if (1) {\n#else\n  {\n#endif\n  }\n}\n"
                    "#define M { \\\n  (\n"
                    "kernel void b() { }\n",
                    {"a"}),
            "#defineN1#ifN==1#else#endif#ifdefA#else#endif#defineM{\\(")
      << "the braces of both branches count, so that more is lost than the function";
}

TEST(KernelRemoval, IsNotMisledByCommentsAndStrings) {
  EXPECT_EQ(left_of("/* a { */ kernel void a() { // }\n printf(\"}\\\"}\", '}'); /* } */ }\n"
                    "kernel void b() {}",
                    {"a"}),
            "/*a{*///}/*}*/kernelvoidb(){}");
}

TEST(KernelRemoval, KeepsWhatIsUsedElsewhere) {
  const std::string called = "kernel void a() {}\nkernel void b() { a(); }\n";
  EXPECT_EQ(without_functions(called, {"a"}), called);
  EXPECT_EQ(left_of(called, {"a", "b"}), "");
  const std::string named = "#define FIRST a\nkernel void a() {}\n";
  EXPECT_EQ(without_functions(named, {"a"}), named);
  const std::string continued = "#define FIRST \\\n  a\nkernel void a() {}\n";
  EXPECT_EQ(without_functions(continued, {"a"}), continued);
  const std::string in_a_function = "int f() { return a(1); }\n";
  EXPECT_EQ(without_functions(in_a_function, {"a"}), in_a_function);
  const std::string longer = "kernel void ab() {}\nkernel void b() {}";
  EXPECT_EQ(without_functions(longer, {"a"}), longer);
}

TEST(KernelRemoval, EndsOnAnyText) {
  const std::string_view parts[] = {
      "a", "(", ")", "{", "}", ";", "\"", "'", "\\", "#", "\n", "/*", "*/", "//", " kernel void ",
      "b"};
  std::mt19937 chance(7); // NOLINT(cert-msc32-c,cert-msc51-cpp): the same texts each time
  for (int i = 0; i < 3000; ++i) {
    std::string text;
    for (int part = 0; part < 24; ++part) {
      text += parts[chance() % std::size(parts)];
    }
    (void)left_of(text, {"a", "b"});
  }
}

} // namespace
} // namespace clbin::source
