// What CUDA C++ has and C++ has not, for one lane.

#include <cmath>
#include <cstdint>
#include <cstring>
#include <iostream>
#include <vector>

#define __device__
#define __global__
#define __forceinline__ inline
#define __restrict__
#define __launch_bounds__(lanes)
#define __shared__ static

struct Index { unsigned x, y, z; };
static const Index blockIdx = {0, 0, 0}, threadIdx = {0, 0, 0}, blockDim = {1, 1, 1};

inline void __syncthreads() {}

inline unsigned atomicMax(unsigned *word, unsigned value) {
    unsigned old = *word;
    if (value > old) *word = value;
    return old;
}

inline int __clz(int value) { return value == 0 ? 32 : __builtin_clz((unsigned)value); }
inline int __popc(unsigned value) { return __builtin_popcount(value); }
inline unsigned __brev(unsigned value) {
    unsigned result = 0;
    for (int bit = 0; bit < 32; bit++) result |= (value >> bit & 1u) << (31 - bit);
    return result;
}

template <typename T, typename S> T bits(S from) {
    T to;
    memcpy(&to, &from, 4);
    return to;
}
inline unsigned __float_as_uint(float value) { return bits<unsigned>(value); }
inline int __float_as_int(float value) { return bits<int>(value); }
inline float __uint_as_float(unsigned value) { return bits<float>(value); }
inline float __int_as_float(int value) { return bits<float>(value); }
inline int __float2int_rz(float value) {
    if (value != value) return 0;
    return value >= 2147483648.0f ? INT32_MAX : value < -2147483648.0f ? INT32_MIN : (int)value;
}
inline unsigned __float2uint_rz(float value) {
    if (!(value > 0.0f)) return 0;
    return value >= 4294967296.0f ? UINT32_MAX : (unsigned)value;
}

// Reads a length and as many words, after two and before two words that no kernel may read.
inline std::vector<unsigned> read_words(unsigned item_words, unsigned &length) {
    std::cin >> length;
    std::vector<unsigned> words((length + 4) * item_words, 0xdeadbeefu);
    for (unsigned i = 0; i < length * item_words; i++) std::cin >> words[2 * item_words + i];
    return words;
}
