// What CUDA C++ has and C++ has not. The lanes of a block are threads, and the blocks run one after the other.

#include <barrier>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

#define __device__
#define __global__
#define __forceinline__ inline
#define __restrict__
#define __launch_bounds__(lanes)
#define __shared__ static

struct Index { unsigned x, y, z; };
static thread_local Index threadIdx;
static Index blockIdx, blockDim;
static std::barrier<> *lanes_of_block;

inline void __syncthreads() { lanes_of_block->arrive_and_wait(); }

inline unsigned atomicAdd(unsigned *word, unsigned value) { return __atomic_fetch_add(word, value, __ATOMIC_RELAXED); }
inline unsigned atomicMax(unsigned *word, unsigned value) {
    unsigned old = *(volatile unsigned *)word;
    while (old < value && !__atomic_compare_exchange_n(word, &old, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
    return old;
}

inline int __clz(int value) { return value == 0 ? 32 : __builtin_clz((unsigned)value); }
inline int __popc(unsigned value) { return __builtin_popcount(value); }
inline unsigned __brev(unsigned value) {
    unsigned result = 0;
    for (int bit = 0; bit < 32; bit++) result |= (value >> bit & 1u) << (31 - bit);
    return result;
}

// A pointer of any type.
struct Any {
    void *pointer;
    template <typename T> operator T *() const { return (T *)pointer; }
};

template <typename Kernel> void run(unsigned blocks, unsigned lanes, Kernel kernel) {
    blockDim = {lanes, 1, 1};
    for (unsigned block = 0; block < blocks; block++) {
        blockIdx = {block, 0, 0};
        std::barrier<> barrier(lanes);
        lanes_of_block = &barrier;
        std::vector<std::thread> threads;
        for (unsigned lane = 0; lane < lanes; lane++) {
            threads.emplace_back([=] {
                threadIdx = {lane, 0, 0};
                kernel();
            });
        }
        for (auto &thread : threads) thread.join();
    }
}
