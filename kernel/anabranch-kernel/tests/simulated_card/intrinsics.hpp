// The parts of CUDA C++ that C++ lacks and that do not depend on the lane.

#include <math.h>

struct Index { unsigned x, y, z; };

#define __device__
#define __global__
#define __forceinline__ inline
#define __restrict__
#define __launch_bounds__(lanes)
#define __shared__ static

inline int __clz(int value) { return value == 0 ? 32 : __builtin_clz((unsigned)value); }
inline int __popc(unsigned value) { return __builtin_popcount(value); }
inline unsigned __brev(unsigned value) {
    unsigned result = 0;
    for (int bit = 0; bit < 32; bit++) result |= (value >> bit & 1u) << (31 - bit);
    return result;
}

template <typename T, typename S> T bits(S from) {
    T to;
    __builtin_memcpy(&to, &from, 4);
    return to;
}
inline unsigned __float_as_uint(float value) { return bits<unsigned>(value); }
inline int __float_as_int(float value) { return bits<int>(value); }
inline float __uint_as_float(unsigned value) { return bits<float>(value); }
inline float __int_as_float(int value) { return bits<float>(value); }
inline int __float2int_rz(float value) {
    if (value != value) return 0;
    return value >= 2147483648.0f ? 2147483647 : value < -2147483648.0f ? -2147483647 - 1 : (int)value;
}
inline unsigned __float2uint_rz(float value) {
    if (!(value > 0.0f)) return 0;
    return value >= 4294967296.0f ? 4294967295u : (unsigned)value;
}
