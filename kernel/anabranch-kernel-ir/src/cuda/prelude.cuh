// The beginning of each module: types, and operations that C++ does not define for all operands.

typedef unsigned int u32;
typedef int i32;
typedef float f32;

// An array or a vector.
template <typename T, u32 N> struct Array { T items[N]; };

#define FUNCTION static __device__ __forceinline__

// Returns an index that is less than `length`.
FUNCTION u32 at(u32 index, u32 length) { return index < length ? index : length - 1u; }

// Signed arithmetic wraps.
FUNCTION i32 add(i32 a, i32 b) { return (i32)((u32)a + (u32)b); }
FUNCTION i32 subtract(i32 a, i32 b) { return (i32)((u32)a - (u32)b); }
FUNCTION i32 multiply(i32 a, i32 b) { return (i32)((u32)a * (u32)b); }
FUNCTION i32 negate(i32 a) { return (i32)(0u - (u32)a); }
FUNCTION i32 magnitude(i32 a) { return a < 0 ? negate(a) : a; }
FUNCTION i32 sign(i32 a) { return (i32)(a > 0) - (i32)(a < 0); }

// By zero, and where the quotient overflows, the quotient is the dividend and the remainder 0.
FUNCTION u32 quotient(u32 a, u32 b) { return a / (b == 0u ? 1u : b); }
FUNCTION u32 remainder_of(u32 a, u32 b) { return a % (b == 0u ? 1u : b); }
FUNCTION i32 divisor(i32 a, i32 b) { return b == 0 || (b == -1 && (u32)a == 0x80000000u) ? 1 : b; }
FUNCTION i32 quotient(i32 a, i32 b) { return a / divisor(a, b); }
FUNCTION i32 remainder_of(i32 a, i32 b) { return a % divisor(a, b); }

// The amount of a shift is taken modulo 32.
FUNCTION u32 shift_left(u32 a, u32 amount) { return a << (amount & 31u); }
FUNCTION i32 shift_left(i32 a, u32 amount) { return (i32)((u32)a << (amount & 31u)); }
FUNCTION u32 shift_right(u32 a, u32 amount) { return a >> (amount & 31u); }
FUNCTION i32 shift_right(i32 a, u32 amount) { return a >> (amount & 31u); }

FUNCTION u32 lesser(u32 a, u32 b) { return b < a ? b : a; }
FUNCTION i32 lesser(i32 a, i32 b) { return b < a ? b : a; }
FUNCTION u32 greater(u32 a, u32 b) { return a < b ? b : a; }
FUNCTION i32 greater(i32 a, i32 b) { return a < b ? b : a; }

FUNCTION u32 leading_zeros(u32 a) { return (u32)__clz((i32)a); }
FUNCTION u32 trailing_zeros(u32 a) { return (u32)__clz((i32)__brev(a)); }
FUNCTION u32 count_ones(u32 a) { return (u32)__popc(a); }

// Returns the item of a variable with this number.
template <typename T, u32 N> FUNCTION const T &item(const Array<T, N> &array, u32 index) {
    return array.items[at(index, N)];
}
template <typename T, u32 N> FUNCTION T &item(Array<T, N> &array, u32 index) { return array.items[at(index, N)]; }

// Sets workgroup memory to 0. All lanes call it.
template <typename T, u32 N> FUNCTION void clear(Array<T, N> &array) {
    for (u32 i = threadIdx.x; i < N; i += blockDim.x) array.items[i] = T();
}
template <typename T> FUNCTION void clear(T &value) {
    if (threadIdx.x == 0u) value = T();
}
