// A card on the host: the calls of NVIDIA's driver that the CUDA driver of anabranch-kernel makes.
//
// Each stream is a thread, so work is as asynchronous as on a card. The lanes of a block are coroutines, which run one
// after the other from barrier to barrier, in changing orders. The card ends the process at errors that a program may
// not notice on a real one: copies and arguments of kernels beyond memory, handles that were destroyed, memory that is
// freed twice, and a barrier that not all lanes of a block reach. New memory has no zeros.
//
// SIMULATED_CARD=old simulates a card that is newer than NVRTC knows and has no memory pools.

#define CARD
#include "lanes.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <dlfcn.h>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <setjmp.h>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <ucontext.h>
#include <vector>

enum Result {
    SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, INVALID_IMAGE = 200, INVALID_CONTEXT = 201, NO_BINARY = 209,
    NOT_FOUND = 500, NOT_READY = 600, NOT_SUPPORTED = 801,
};

static const size_t MEMORY = size_t(1) << 30;
static const size_t STACK = 256 << 10;
static const unsigned MOST_LANES = 1024;

static void check(bool holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "the simulated card: %s\n", what);
    abort();
}

static bool is_old() {
    const char *kind = getenv("SIMULATED_CARD");
    return kind && !strcmp(kind, "old");
}

// The state that streams and callers share. `changed` says that a stream has work, has done some, or was destroyed.
// Neither is destroyed, since the threads of streams may outlive `main`.
static std::mutex &state = *new std::mutex;
static std::condition_variable &changed = *new std::condition_variable;
typedef std::unique_lock<std::mutex> Lock;

// Whether a stream has reached the last record. An event may be recorded again, in another stream, before that.
struct Event {
    std::shared_ptr<bool> is_reached = std::make_shared<bool>(true);
};

struct Stream {
    std::deque<std::function<void()>> work;
    uint64_t submitted = 0, done = 0;
    bool is_destroyed = false;

    void submit(std::function<void()> item) {
        Lock lock(state);
        work.push_back(std::move(item));
        submitted++;
        changed.notify_all();
    }

    void run() {
        for (;;) {
            Lock lock(state);
            changed.wait(lock, [&] { return !work.empty() || is_destroyed; });
            if (work.empty()) return;
            auto item = std::move(work.front());
            work.pop_front();
            lock.unlock();
            item();
            lock.lock();
            done++;
            changed.notify_all();
        }
    }
};

struct Module {
    void *library;
    uint64_t launches = 0;
};

struct Function {
    Module *module;
    Call *(*bind)(void **);
    Lane *lane;
    bool has_barriers;
};

static std::set<void *> &live = *new std::set<void *>;
static std::vector<Stream *> &streams = *new std::vector<Stream *>;
static std::map<uintptr_t, size_t> &device_memory = *new std::map<uintptr_t, size_t>;
static std::map<uintptr_t, size_t> &host_memory = *new std::map<uintptr_t, size_t>;
static size_t used = 0;
static int context;
static int retained = 0;
static thread_local void *current = nullptr;

template <typename T> static T *make(T *handle) {
    Lock lock(state);
    live.insert(handle);
    return handle;
}

template <typename T> static T *known(T *handle) {
    Lock lock(state);
    check(live.count(handle), "a handle is not one of the card, or was destroyed");
    return handle;
}

static void forget(void *handle) {
    Lock lock(state);
    check(live.erase(handle), "a handle is destroyed twice");
}

static void check_range(std::map<uintptr_t, size_t> &memory, uintptr_t address, size_t bytes) {
    Lock lock(state);
    auto next = memory.upper_bound(address);
    check(next != memory.begin(), "an access is to memory that is not allocated");
    auto [start, size] = *--next;
    check(address - start <= size && bytes <= size - (address - start), "an access is beyond memory");
}

static void allocated(std::map<uintptr_t, size_t> &memory, void *address, size_t bytes) {
    memset(address, 0xa5, bytes);
    Lock lock(state);
    memory[(uintptr_t)address] = bytes;
}

static void freed(std::map<uintptr_t, size_t> &memory, uintptr_t address) {
    Lock lock(state);
    auto found = memory.find(address);
    check(found != memory.end(), "memory is freed that is not allocated");
    if (&memory == &device_memory) used -= found->second;
    memory.erase(found);
    lock.unlock();
    free((void *)address);
}

// Copies between host and card, in parts as at 250 MB/s, so that several copies are outstanding.
static void copy(uintptr_t to, uintptr_t from, size_t bytes, bool to_host) {
    const size_t part = 64 << 10;
    for (size_t offset = 0; offset < bytes; offset += part) {
        size_t size = std::min(part, bytes - offset);
        std::this_thread::sleep_for(std::chrono::nanoseconds(4 * size));
        check_range(to_host ? host_memory : device_memory, to + offset, size);
        check_range(to_host ? device_memory : host_memory, from + offset, size);
        memcpy((void *)(to + offset), (const void *)(from + offset), size);
    }
}

static void synchronize(Stream *stream) {
    Lock lock(state);
    changed.wait(lock, [=, until = stream->submitted] { return stream->done >= until; });
}

static void synchronize_all() {
    Lock lock(state);
    std::vector<Stream *> all = streams;
    lock.unlock();
    for (Stream *stream : all) synchronize(stream);
}

// Returns a bit that looks random.
static bool next(uint64_t &order) {
    order = order * 6364136223846793005u + 1442695040888963407u;
    return order >> 63;
}

// The coroutines of the lanes of a block. They are made once, and switch without system calls. The thread of any
// stream may run them, one at a time.
struct Lanes {
    struct Coroutine {
        jmp_buf place;
        bool has_ended;
    };
    Coroutine all[MOST_LANES];
    jmp_buf card;
    Call *call = nullptr;
    Lane *lane = nullptr;
    unsigned running = 0;

    static void main();
    static void barrier();

    // Makes a coroutine for each lane, which waits for its first block.
    void start() {
        void *stacks = mmap(nullptr, MOST_LANES * STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        check(stacks != MAP_FAILED, "there is no memory for the stacks of lanes");
        for (running = 0; running < MOST_LANES; running++) {
            ucontext_t context;
            getcontext(&context);
            context.uc_stack = {(char *)stacks + running * STACK, 0, STACK};
            context.uc_link = nullptr;
            makecontext(&context, main, 0);
            if (!_setjmp(card)) setcontext(&context);
        }
    }

    void run_block(unsigned count, uint64_t &order) {
        for (unsigned i = 0; i < count; i++) all[i].has_ended = false;
        unsigned ended = 0;
        while (ended == 0) {
            bool is_reversed = next(order);
            for (unsigned i = 0; i < count; i++) {
                running = is_reversed ? count - 1 - i : i;
                lane->thread = {running, 0, 0};
                if (!_setjmp(card)) _longjmp(all[running].place, 1);
                ended += all[running].has_ended;
            }
        }
        check(ended == count, "a barrier is not reached by all lanes of its block");
    }
};

static Lanes lanes;

void Lanes::main() {
    for (;;) {
        barrier();
        lanes.call->run();
        lanes.all[lanes.running].has_ended = true;
    }
}

void Lanes::barrier() {
    if (!_setjmp(lanes.all[lanes.running].place)) _longjmp(lanes.card, 1);
}

// Runs one kernel at a time, since modules of one text share their variables.
static void run(const Function *function, Call *call, unsigned blocks, unsigned count) {
    static std::mutex &cores = *new std::mutex;
    Lock lock(cores);
    static uint64_t order = 0;
    if (!lanes.lane) lanes.start();
    lanes.call = call;
    lanes.lane = function->lane;
    *lanes.lane = {{0, 0, 0}, {0, 0, 0}, {count, 1, 1}, Lanes::barrier};
    bool is_reversed = next(order);
    for (unsigned block = 0; block < blocks; block++) {
        lanes.lane->block = {is_reversed ? blocks - 1 - block : block, 0, 0};
        if (function->has_barriers) {
            lanes.run_block(count, order);
            continue;
        }
        for (unsigned i = 0; i < count; i++) {
            lanes.lane->thread = {i, 0, 0};
            call->run();
        }
    }
}

#define NEEDS_CONTEXT if (current != &context) return INVALID_CONTEXT

extern "C" {

int cuDriverGetVersion(int *version) { *version = 13000; return SUCCESS; }
int cuInit(unsigned) { return SUCCESS; }
int cuGetErrorName(int, const char **name) { *name = "an error of the simulated card"; return SUCCESS; }
int cuGetErrorString(int, const char **text) { *text = "an error of the simulated card"; return SUCCESS; }

int cuDeviceGetCount(int *count) { *count = 1; return SUCCESS; }
int cuDeviceGet(int *device, int number) { *device = number; return number == 0 ? SUCCESS : INVALID_VALUE; }
int cuDeviceGetName(char *name, int size, int) { snprintf(name, size, "simulated card"); return SUCCESS; }
int cuDeviceTotalMem_v2(size_t *bytes, int) { *bytes = MEMORY; return SUCCESS; }
int cuDeviceGetPCIBusId(char *slot, int size, int) { snprintf(slot, size, "0000:77:00.0"); return SUCCESS; }

int cuDeviceGetAttribute(int *value, int attribute, int) {
    static const std::map<int, int> values = {
        {1, MOST_LANES},    // threads of a block
        {5, 2147483647},    // blocks
        {8, 48 << 10},      // bytes of a block
        {10, 32},           // threads of a warp
        {16, 4},            // cores
        {36, 1000000},      // kilohertz
        {37, 512},          // bits
        {39, 2048},         // threads of a core
        {75, 9}, {76, 0},   // the compute capability
        {115, 1},           // memory pools
    };
    auto found = values.find(attribute);
    if (found == values.end()) return INVALID_VALUE;
    *value = found->second;
    if (is_old()) *value = attribute == 115 ? 0 : attribute == 75 ? 8 : attribute == 76 ? 9 : *value;
    return SUCCESS;
}

int cuDevicePrimaryCtxRetain(void **made, int) { Lock lock(state); retained++; *made = &context; return SUCCESS; }
int cuDevicePrimaryCtxRelease_v2(int) {
    Lock lock(state);
    check(retained-- > 0, "the context is released more often than retained");
    return SUCCESS;
}
int cuCtxGetCurrent(void **now) { *now = current; return SUCCESS; }
int cuCtxSetCurrent(void *now) { current = now; return SUCCESS; }

int cuStreamCreate(Stream **made, unsigned) {
    NEEDS_CONTEXT;
    // A stream is never freed, and its thread ends after the work.
    *made = make(new Stream);
    Lock lock(state);
    streams.push_back(*made);
    std::thread(&Stream::run, *made).detach();
    return SUCCESS;
}
int cuStreamDestroy_v2(Stream *stream) {
    forget(stream);
    Lock lock(state);
    stream->is_destroyed = true;
    streams.erase(std::find(streams.begin(), streams.end(), stream));
    changed.notify_all();
    return SUCCESS;
}
int cuStreamSynchronize(Stream *stream) { NEEDS_CONTEXT; synchronize(known(stream)); return SUCCESS; }

int cuStreamWaitEvent(Stream *stream, Event *event, unsigned) {
    NEEDS_CONTEXT;
    known(event);
    Lock lock(state);
    auto is_reached = event->is_reached;
    lock.unlock();
    known(stream)->submit([=] {
        Lock lock(state);
        changed.wait(lock, [&] { return *is_reached; });
    });
    return SUCCESS;
}

int cuEventCreate(Event **made, unsigned) { NEEDS_CONTEXT; *made = make(new Event); return SUCCESS; }
int cuEventDestroy_v2(Event *event) { forget(event); return SUCCESS; }
int cuEventRecord(Event *event, Stream *stream) {
    NEEDS_CONTEXT;
    known(event);
    auto is_reached = std::make_shared<bool>(false);
    Lock lock(state);
    event->is_reached = is_reached;
    lock.unlock();
    known(stream)->submit([=] {
        Lock lock(state);
        *is_reached = true;
        changed.notify_all();
    });
    return SUCCESS;
}
int cuEventQuery(Event *event) {
    NEEDS_CONTEXT;
    known(event);
    Lock lock(state);
    return *event->is_reached ? SUCCESS : NOT_READY;
}
int cuEventSynchronize(Event *event) {
    NEEDS_CONTEXT;
    known(event);
    Lock lock(state);
    changed.wait(lock, [is_reached = event->is_reached] { return *is_reached; });
    return SUCCESS;
}

// Returns memory that is not allocated yet, or null.
static void *reserve(size_t bytes) {
    Lock lock(state);
    if (bytes > MEMORY - used) return nullptr;
    used += bytes;
    return aligned_alloc(256, (bytes + 255) / 256 * 256);
}
int cuMemAlloc_v2(uintptr_t *made, size_t bytes) {
    NEEDS_CONTEXT;
    if (bytes == 0) return INVALID_VALUE;
    void *address = reserve(bytes);
    if (!address) return OUT_OF_MEMORY;
    allocated(device_memory, address, bytes);
    *made = (uintptr_t)address;
    return SUCCESS;
}
// Waits for the calls that free memory, if there is too little. Work in other streams has to wait for the allocation.
int cuMemAllocAsync(uintptr_t *made, size_t bytes, Stream *stream) {
    NEEDS_CONTEXT;
    known(stream);
    if (is_old()) return NOT_SUPPORTED;
    if (bytes == 0) return INVALID_VALUE;
    void *address = reserve(bytes);
    if (!address) {
        synchronize_all();
        address = reserve(bytes);
    }
    if (!address) return OUT_OF_MEMORY;
    *made = (uintptr_t)address;
    stream->submit([=] {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        allocated(device_memory, address, bytes);
    });
    return SUCCESS;
}
int cuMemFreeAsync(uintptr_t address, Stream *stream) {
    NEEDS_CONTEXT;
    if (is_old()) return NOT_SUPPORTED;
    known(stream)->submit([=] { freed(device_memory, address); });
    return SUCCESS;
}
// Waits for all work, as a real one does.
int cuMemFree_v2(uintptr_t address) {
    NEEDS_CONTEXT;
    synchronize_all();
    freed(device_memory, address);
    return SUCCESS;
}
int cuMemHostAlloc(void **made, size_t bytes, unsigned) {
    NEEDS_CONTEXT;
    *made = malloc(bytes);
    allocated(host_memory, *made, bytes);
    return SUCCESS;
}
int cuMemFreeHost(void *address) { NEEDS_CONTEXT; freed(host_memory, (uintptr_t)address); return SUCCESS; }

int cuMemcpyHtoDAsync_v2(uintptr_t to, const void *from, size_t bytes, Stream *stream) {
    NEEDS_CONTEXT;
    known(stream)->submit([=] { copy(to, (uintptr_t)from, bytes, false); });
    return SUCCESS;
}
int cuMemcpyDtoHAsync_v2(void *to, uintptr_t from, size_t bytes, Stream *stream) {
    NEEDS_CONTEXT;
    known(stream)->submit([=] { copy((uintptr_t)to, from, bytes, true); });
    return SUCCESS;
}
int cuMemcpyDtoDAsync_v2(uintptr_t to, uintptr_t from, size_t bytes, Stream *stream) {
    NEEDS_CONTEXT;
    known(stream)->submit([=] {
        check_range(device_memory, from, bytes);
        check_range(device_memory, to, bytes);
        memcpy((void *)to, (void *)from, bytes);
    });
    return SUCCESS;
}
int cuMemsetD8Async(uintptr_t to, unsigned char byte, size_t bytes, Stream *stream) {
    NEEDS_CONTEXT;
    known(stream)->submit([=] {
        check_range(device_memory, to, bytes);
        memset((void *)to, byte, bytes);
    });
    return SUCCESS;
}

int cuModuleLoadData(Module **made, const char *image) {
    NEEDS_CONTEXT;
    const char *space = strchr(image, ' ');
    if (!space) return INVALID_IMAGE;
    std::string target(image, space), wanted = is_old() ? "compute_80" : "sm_90";
    if (target != wanted) return NO_BINARY;
    void *library = dlopen(space + 1, RTLD_NOW | RTLD_LOCAL);
    if (!library) return INVALID_IMAGE;
    *made = make(new Module{library});
    return SUCCESS;
}
int cuModuleGetFunction(Function **made, Module *module, const char *name) {
    NEEDS_CONTEXT;
    void *bind = dlsym(known(module)->library, (std::string("bind_") + name).c_str());
    if (!bind) return NOT_FOUND;
    auto variable = [=](const char *name) { return dlsym(module->library, name); };
    auto *has_barriers = (const bool *)variable("has_barriers");
    *made = new Function{module, (Call *(*)(void **))bind, (Lane *)variable("lane"), *has_barriers};
    return SUCCESS;
}
int cuModuleUnload(Module *module) {
    NEEDS_CONTEXT;
    forget(module);
    Lock lock(state);
    check(module->launches == 0, "a module is unloaded that still runs");
    return SUCCESS;
}

int cuLaunchKernel(
    Function *function, unsigned blocks, unsigned, unsigned, unsigned count, unsigned, unsigned, unsigned,
    Stream *stream, void **args, void **
) {
    NEEDS_CONTEXT;
    known(function->module);
    known(stream);
    if (blocks == 0 || count == 0 || count > MOST_LANES) return INVALID_VALUE;
    std::shared_ptr<Call> call(function->bind(args));
    {
        Lock lock(state);
        function->module->launches++;
    }
    stream->submit([=] {
        for (size_t i = 0; i < call->buffers; i++) {
            check_range(device_memory, (uintptr_t)call->starts[i], call->bytes[i]);
        }
        run(function, call.get(), blocks, count);
        Lock lock(state);
        function->module->launches--;
    });
    return SUCCESS;
}

}
