// MurmurHash, the public algorithms of Austin Appleby: keys of 64 bits to hashes, the same on every machine.
#pragma once

#include <cstdint>

#include "varlen/views.hpp"

namespace varlen {

/// How many n-grams the sequences [0, i] of a level have: length - n + 1 of each, none where it is shorter.
void ngram_counts(Offsets level, std::int64_t n, std::int64_t* ends) noexcept;

/// out[k] = MurmurHash64A of n consecutive keys of one sequence, seed 0, in the order of the first of them.
/// `counts` is what ngram_counts gave. n >= 1.
void ngrams(Offsets level, Offsets counts, std::int64_t n, const std::uint64_t* keys,
            std::uint64_t* out) noexcept;

/// out (count, 4): MurmurHash3_x64_128 of each id as 8 bytes, the lowest first; its words from the lowest on.
void hash(const std::uint64_t* ids, std::int64_t count, std::uint32_t seed, std::uint32_t* out) noexcept;

}  // namespace varlen
