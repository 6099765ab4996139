// What the fuzz target of cache entries and its seeds share.
#pragma once

#include <string>

/// The key that entries are asked for by.
inline const std::string cache_key = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
