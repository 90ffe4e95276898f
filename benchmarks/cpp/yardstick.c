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

void copy(unsigned char* out, const unsigned char* in, size_t n) { memcpy(out, in, n); }

void fill(unsigned char* out, int byte, size_t n) { memset(out, byte, n); }
