// Files that minisign 0.11 wrote (Debian's package): a key without and one with the passphrase
// "secret", and signatures of the text "hello" by the first.
#pragma once

#include <string_view>

namespace clbin::test {

inline constexpr std::string_view k_public =
    "untrusted comment: minisign public key 1720FE13B3E5D86E\n"
    "RWRu2OWzE/4gFy3vYOlgUScoIzEpxJUE7Gfl9aa09DS8kWUJdhiiWXXW\n";
inline constexpr std::string_view k_secret =
    "untrusted comment: minisign encrypted secret key\n"
    "RWQAAEIyAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAbtjlsxP+"
    "IBel7rLExl8ex67P7gtgHjEUO6g4mn4/pbjqHbg4+fUX/"
    "y3vYOlgUScoIzEpxJUE7Gfl9aa09DS8kWUJdhiiWXXWAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n";
inline constexpr std::string_view k_legacy =
    "untrusted comment: signature from minisign secret key\n"
    "RWRu2OWzE/4gFyPMKbHtW/CCGcSwv5XsqkZuofEQKlWbDXQFvrPFifQE5pViTMec2qvmZcBx7tUKyNoO8Ew+K/"
    "bu0l0LWTwlego=\n"
    "trusted comment: timestamp:1795414568\tfile:m\n"
    "7CgMCpo4SgRNKb5nh4SnlcyLVEpMEX2X/S165mJAkm5tZf810Cjseji8/WAUMRr/twO8lLqD1R25Wdr5f3XpDQ==\n";
inline constexpr std::string_view k_prehashed =
    "untrusted comment: signature from minisign secret key\n"
    "RURu2OWzE/4gFwoPmRt4QlW/j1I1weXk/Xbo0WeknTykKMamN5WhC1P7BplNGbSGtgVvX/"
    "ZQscw32BXnUBGKQSv80i3uKCrP5wM=\n"
    "trusted comment: timestamp:1795414568\tfile:m\thashed\n"
    "RJi6o/VMDXL1bs+smCDJTRsVEwxvUW5CQEpJb9wTYpO5aLOgxXTrUxE3L8YsSEmx91hC6WFswDpzdLQino35DQ==\n";
inline constexpr std::string_view k_protected_public =
    "untrusted comment: minisign public key E0EB6F58456D0967\n"
    "RWRnCW1FWG/r4P/zuSGKCtZIn4PF+Jy/btnTMd47c7ZIjsx95Aynbt+A\n";
inline constexpr std::string_view k_protected_secret =
    "untrusted comment: minisign encrypted secret key\n"
    "RWRTY0Iy0s5j3IHqf9SBJgkYGPwhAWiDc9O1Q54FnW6aOVNywRMAAAACAAAAAAAAAEAAAAAAMymgC6nsiOEPKWtSySaUDc"
    "NJ5KTYeOa50ztr+NsrYKE16JRNTMeDaKbIT1X7fpBMH5aTTYYqI4V8t/ujArQ8+HM5thBVCOw/"
    "aKjITYnY6GHG0AXQjNkabKsLkK+d7YXChNHec9ko4Q8=\n";

} // namespace clbin::test
