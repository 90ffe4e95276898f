// What memory allows: plain loops that the rows of the table are held against. Compiled when the table is run.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

// Stores that go past the caches, over n bytes of at least 64; the ragged head and tail are plain.
void nt_fill(unsigned char* out, int byte, size_t n) {
#if defined(__SSE2__)
  const size_t head = (64 - ((uintptr_t)out & 63)) & 63;
  if (n < 64 + head) {
    memset(out, byte, n);
    return;
  }
  memset(out, byte, head);
  unsigned char* at = out + head;
  const unsigned char* end = at + ((n - head) & ~(size_t)63);
  const __m128i v = _mm_set1_epi8((char)byte);
  for (; at < end; at += 64) {
    _mm_stream_si128((__m128i*)at, v);
    _mm_stream_si128((__m128i*)(at + 16), v);
    _mm_stream_si128((__m128i*)(at + 32), v);
    _mm_stream_si128((__m128i*)(at + 48), v);
  }
  _mm_sfence();
  memset(at, byte, (size_t)(out + n - at));
#else
  memset(out, byte, n);
#endif
}

// The first m of n bytes copied, the rest cleared, past the caches: what padding comes down to, without its rows.
void nt_copy_fill(unsigned char* out, const unsigned char* in, size_t m, size_t n) {
#if defined(__SSE2__)
  const size_t head = (64 - ((uintptr_t)out & 63)) & 63;
  if (m < 128) {
    memcpy(out, in, m);
    nt_fill(out + m, 0, n - m);
    return;
  }
  memcpy(out, in, head);
  size_t at = head;
  for (; at + 64 <= m; at += 64) {
    const __m128i* from = (const __m128i*)(in + at);
    __m128i* to = (__m128i*)(out + at);
    const __m128i a = _mm_loadu_si128(from), b = _mm_loadu_si128(from + 1);
    const __m128i c = _mm_loadu_si128(from + 2), d = _mm_loadu_si128(from + 3);
    _mm_stream_si128(to, a);
    _mm_stream_si128(to + 1, b);
    _mm_stream_si128(to + 2, c);
    _mm_stream_si128(to + 3, d);
  }
  memcpy(out + at, in + at, m - at);
  nt_fill(out + m, 0, n - m);
#else
  memcpy(out, in, m);
  memset(out + m, 0, n - m);
#endif
}

void copy(unsigned char* out, const unsigned char* in, size_t n) { memcpy(out, in, n); }

void fill(unsigned char* out, int byte, size_t n) { memset(out, byte, n); }

// Reads n bytes; what it gives hangs on all but the last few of them.
uint64_t read_all(const unsigned char* in, size_t n) {
  size_t at = 0;
#if defined(__SSE2__)
  __m128i a = _mm_setzero_si128(), b = a, c = a, d = a;
  for (; at + 64 <= n; at += 64) {
    const __m128i* from = (const __m128i*)(in + at);
    a = _mm_xor_si128(a, _mm_loadu_si128(from));
    b = _mm_xor_si128(b, _mm_loadu_si128(from + 1));
    c = _mm_xor_si128(c, _mm_loadu_si128(from + 2));
    d = _mm_xor_si128(d, _mm_loadu_si128(from + 3));
  }
  uint64_t both[2];
  _mm_storeu_si128((__m128i*)both, _mm_xor_si128(_mm_xor_si128(a, b), _mm_xor_si128(c, d)));
  return both[0] ^ both[1];
#else
  uint64_t all = 0, word;
  for (; at + 8 <= n; at += 8) {
    memcpy(&word, in + at, 8);
    all ^= word;
  }
  return all;
#endif
}
