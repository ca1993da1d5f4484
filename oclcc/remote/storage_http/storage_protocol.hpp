// The protocol between oclcc and oclcc-storage-http, on a stream socket: version 1.
//
// After a connection, the helper sends its greeting. A request and its reply are frames: a u32
// length, and a body of that many bytes; all numbers are little-endian. A request contains the u8
// operation, 24 zero bits, the u32 milliseconds that the helper may take (0: its setting
// 'timeout-ms'), the 32 bytes of the key, and the entry of a PUT. A reply contains the u8 status
// and, depending on it, an entry or the text of the failure.
#pragma once

#include <cstdint>
#include <string_view>

namespace oclcc::storage_http {

// Sent to each client that connects. Changes with every version of the protocol.
inline constexpr std::string_view k_greeting = "clbin-storage 1\n";
inline constexpr std::uint32_t k_max_entry_bytes = 64U << 20U;
inline constexpr std::uint32_t k_max_frame_bytes = k_max_entry_bytes + 64U;

enum class Operation : std::uint8_t { get = 1, put = 2, head = 3 };

enum class Status : std::uint8_t {
  done = 0,    // GET: the entry follows; PUT: stored; HEAD: present
  absent = 1,  // GET and HEAD
  failed = 2,  // the reason follows
  refused = 3, // a PUT in read-only mode
};

} // namespace oclcc::storage_http
