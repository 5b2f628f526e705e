//! Pools: their threads, handlers, limits and statistics.

mod blocked_workers;
mod blocking;
mod broadcast;
mod call;
mod compute_and_serve;
mod current_thread;
mod handlers;
mod hazards;
mod hostile_system;
mod large_numbers;
mod lifecycle;
mod memory;
mod park_token;
#[cfg(target_os = "linux")]
mod pinning;
mod report;
#[cfg(target_os = "linux")]
mod seccomp;
mod shutdown;
mod spares;
mod spawn_broadcast;
mod spawn_handler;
mod stacks;
mod stats;
mod thread_index;
