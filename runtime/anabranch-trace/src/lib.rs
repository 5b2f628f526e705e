//! Traces of anabranch's worker pools: what each thread did, and when.
//!
//! - [`event`]: what can happen, and its form of 16 bytes.
//! - [`write`](mod@write): the file.
//!
//! The feature `read` adds what works on a trace:
//!
//! - [`read`](mod@read): reads and checks a file that may be truncated or hostile.
//! - [`timeline`]: what each thread and each fiber did, as intervals.
//! - [`explain`](mod@explain): where the time went, in figures and in plain sentences.
//! - [`recording`]: the tree of all forks, if the program has recorded them.
//! - [`chrome`]: the trace in the format of Chrome, which <https://ui.perfetto.dev> opens.
//!
//! # The file
//! All numbers are little-endian. The file begins with [`MAGIC`], and consists of sections. A section is its kind (four
//! bytes), the length of its content (`u64`), and its content:
//!
//! | kind   | content |
//! |--------|---------|
//! | `META` | pairs of texts: what is known of the process and the machine |
//! | `POOL` | the number of a pool (`u32`), and how many threads it has (`u32`) |
//! | `SITE` | a label, the name of a source file, its line (`u32`) and column (`u32`); the *n*-th section is site *n*, from 1 |
//! | `LANE` | the number of a thread (`u32`), its number in the system (`u32`), how many of its events were lost (`u64`), its name |
//! | `EVTS` | the number of a thread (`u32`), four zero bytes, and its next events, 16 bytes each |
//! | `DONE` | how many events there are, how many were lost, and a checksum of all sections before (`u64` each); the last section |
//!
//! A text is its length in bytes (`u32`), and UTF-8. A reader skips sections of unknown kinds, and events of unknown
//! kinds. A file without `DONE` was truncated. The checksum is computed from words of eight bytes: the head of each
//! section, and its content, each filled up with zeros. It begins with zero. For each word the checksum is XORed with
//! the word. Then it is multiplied by 0x9E3779B97F4A7C15 and XORed with its upper half, twice.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod checksum;
#[cfg(feature = "read")]
pub mod chrome;
pub mod event;
#[cfg(feature = "read")]
pub mod explain;
#[cfg(feature = "read")]
mod merge;
#[cfg(feature = "read")]
pub mod read;
#[cfg(feature = "read")]
pub mod recording;
#[cfg(feature = "read")]
pub mod timeline;
pub mod write;

/// The first bytes of a trace. The last two are the version of the format.
pub const MAGIC: [u8; 8] = *b"ANATRC02";

/// The bytes of a section before its content.
const SECTION_HEAD: usize = 12;
