// The lanes of a simulated card. Its compiler includes this in each kernel, and it runs a kernel as one call for each
// lane.

#include "intrinsics.hpp"

#include <cstddef>
#include <utility>

// The lane that runs, and what it calls at a barrier.
struct Lane {
    Index thread, block, size;
    void (*barrier)();
};

// A kernel and its arguments. The parameters have 4,096 bytes, and a buffer has 12 of them.
struct Call {
    const void *starts[341];
    std::size_t bytes[341];
    std::size_t buffers = 0;

    virtual void run() = 0;
    virtual ~Call() {}
};

#ifndef CARD

extern "C" { Lane lane; }
#define threadIdx lane.thread
#define blockIdx lane.block
#define blockDim lane.size

inline void __syncthreads() { lane.barrier(); }

// One lane runs at a time.
inline unsigned atomicAdd(unsigned *word, unsigned value) { unsigned old = *word; *word += value; return old; }
inline unsigned atomicMax(unsigned *word, unsigned value) {
    unsigned old = *word;
    if (old < value) *word = value;
    return old;
}

template <typename Kernel> struct Bound : Call {
    Kernel kernel;
    Bound(Kernel kernel) : kernel(kernel) {}
    void run() override { kernel(); }

    // A pointer to the elements of a buffer, and then their number.
    template <typename T> void note(T *start) { starts[buffers] = start, bytes[buffers] = sizeof(T); }
    void note(unsigned count) { bytes[buffers++] *= count; }
    template <typename T> void note(T) {}
};

template <typename... A, std::size_t... I>
Call *bind_all(void (*kernel)(A...), void **args, std::index_sequence<I...>) {
    auto call = [kernel](A... values) { return [=] { kernel(values...); }; }(*(A *)args[I]...);
    static_assert((0 + ... + sizeof(A)) <= 4096, "the parameters of a kernel have 4,096 bytes");
    auto *bound = new Bound<decltype(call)>(call);
    (bound->note(*(A *)args[I]), ...);
    return bound;
}

// Copies the arguments of a launch.
template <typename... A> Call *bind(void (*kernel)(A...), void **args) {
    return bind_all(kernel, args, std::index_sequence_for<A...>());
}

#endif
