//! Conversations that `proto!` describes.

mod bank;
mod buffers;
mod close;
mod generated_code;
mod waits;
