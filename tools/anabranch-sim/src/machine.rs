//! The costs of a machine: the one table of the model.
//!
//! | costs | source |
//! |---|---|
//! | `near`, `far` | N. Viennot, core-to-core-latency: 23 ns in a complex of Zen 3, 51 ns in a socket of Ice Lake, 105 ns between two |
//! | `load`, `store` | A. Fog, Instruction tables: two loads and one store a cycle. Waiting for the value of a hit is not modelled |
//! | the rest of the small machine | measured on a virtual machine with two cores of Zen 5 and a busy host: medians of three runs |
//! | the last wake-up latency of the large one | fitted to one row of `docs/BENCHMARKS.md`: a loop of 64 x 20 us after a gap of 1 ms on 16 cores |
//! | `wake`, `latencies` and `barrier_per_core` of the server | estimates: an interrupt without a hypervisor, and C-states |
//! | `slice`, `slack` | Linux 6.18: `sched_base_slice` on 8 cores or more, `PR_SET_TIMERSLACK` |

/// A time in picoseconds, so that a load can cost less than a nanosecond.
pub(crate) type Picos = u64;

/// Converts nanoseconds.
pub(crate) const fn nanos(nanos: u64) -> Picos {
    nanos * 1_000
}

/// The kind of a memory access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Load,
    Store,
    /// A read-modify-write, or a sequentially consistent store.
    Update,
}

/// The cores of a machine, and the cost of each operation.
#[derive(Debug, Clone)]
pub struct Machine {
    pub(crate) cores: usize,
    pub(crate) cores_per_socket: usize,
    /// A load, and a store, of a line that the core owns or shares.
    pub(crate) load: Picos,
    pub(crate) store: Picos,
    /// A read-modify-write of a line that the core owns, and a full fence.
    pub(crate) update: Picos,
    pub(crate) fence: Picos,
    /// A line that another core of the socket has, or of another socket.
    pub(crate) near: Picos,
    pub(crate) far: Picos,
    /// The spin hint.
    pub(crate) pause: Picos,
    /// A reading of the clock.
    pub(crate) clock: Picos,
    /// A system call that does nothing.
    pub(crate) call: Picos,
    /// The time of the caller for each thread that it wakes.
    pub(crate) wake: Picos,
    /// The time until a woken thread runs, on a core that has been idle for at least as long as the first number says.
    pub(crate) latencies: [(Picos, Picos); 3],
    /// A wake-up takes this many times as long once in [`SLOW_WAKE`] wake-ups.
    pub(crate) slow_wake_factor: u64,
    /// `membarrier`: for the caller, for the caller per running core, and for each interrupted core.
    pub(crate) barrier: Picos,
    pub(crate) barrier_per_core: Picos,
    pub(crate) interrupt: Picos,
    /// A switch between threads, and the slice of a thread while others wait for a core.
    pub(crate) switch: Picos,
    pub(crate) slice: Picos,
    /// How late a timer may be.
    pub(crate) slack: Picos,
    /// Starting a thread, for the caller.
    pub(crate) spawn: Picos,
}

/// On average one wake-up in this many is slow.
pub(crate) const SLOW_WAKE: u64 = 32;

impl Machine {
    /// Returns a small virtual machine, whose cores are in one complex of AMD's.
    pub fn small_vm(cores: usize) -> Self {
        Self {
            cores,
            cores_per_socket: cores,
            load: 200,
            store: 300,
            update: nanos(10),
            fence: nanos(8),
            near: nanos(25),
            far: nanos(25),
            pause: nanos(45),
            clock: nanos(40),
            call: nanos(200),
            wake: nanos(4_000),
            latencies: [(0, nanos(6_000)), (nanos(50_000), nanos(13_000)), (nanos(500_000), nanos(15_000))],
            slow_wake_factor: 3,
            barrier: nanos(250),
            barrier_per_core: nanos(450),
            interrupt: nanos(500),
            switch: nanos(1_000),
            slice: nanos(3_000_000),
            slack: nanos(50_000),
            spawn: nanos(6_000),
        }
    }

    /// Returns a virtual machine on one socket of an Intel Xeon.
    pub fn large_vm(cores: usize) -> Self {
        let latencies = [(0, nanos(6_000)), (nanos(50_000), nanos(25_000)), (nanos(250_000), nanos(110_000))];
        Self { near: nanos(55), far: nanos(55), latencies, ..Self::small_vm(cores) }
    }

    /// Returns a server without virtual machines, with 32 cores of an Intel Xeon a socket.
    pub fn server(cores: usize) -> Self {
        Self {
            cores_per_socket: 32,
            far: nanos(110),
            wake: nanos(1_500),
            latencies: [(0, nanos(2_500)), (nanos(50_000), nanos(5_000)), (nanos(500_000), nanos(40_000))],
            barrier_per_core: nanos(150),
            ..Self::large_vm(cores)
        }
    }

    /// Returns the number of cores.
    pub fn cores(&self) -> usize {
        self.cores
    }

    /// Returns the time of an access to a line that the core has.
    pub(crate) fn base(&self, access: Access) -> Picos {
        match access {
            Access::Load => self.load,
            Access::Store => self.store,
            Access::Update => self.update,
        }
    }

    /// Returns the time in which a line moves from one core to another.
    pub(crate) fn transfer(&self, from: usize, to: usize) -> Picos {
        if from / self.cores_per_socket == to / self.cores_per_socket { self.near } else { self.far }
    }

    /// Returns the time until a thread runs on a core that has been idle for `idle`.
    pub(crate) fn latency(&self, idle: Picos) -> Picos {
        self.latencies.iter().rev().find(|&&(least, _)| idle >= least).map_or(0, |&(_, latency)| latency)
    }
}
