//! A file in blocks. The buffer is the window: the sender waits while the buffer is full.

use anabranch::{Cx, channel::RecvError, proto};
use std::time::Duration;

proto! { pub transfer {
    Ask: send { get(name: String) -> Answer }
    Answer: recv { begins(length: u64) -> Blocks, no_such_file -> Ask }
    #[buffer(4)]
    Blocks: recv { block(Vec<u8>) -> Blocks, end(checksum: u64) -> ! }
}}

use transfer::{client, server};

const BLOCK: usize = 4096;

fn checksum(sum: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(sum, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(*byte)))
}

/// Serves one file.
fn store(cx: &Cx<'_>, mut ask: server::Ask) -> Result<transfer::Done, RecvError> {
    let file: Vec<u8> = (0..100_000u32).map(|n| (n % 251) as u8).collect();
    let answer = loop {
        let server::AskMessage::Get(name, answer) = ask.recv(cx)?;
        if name == "numbers" {
            break answer;
        }
        ask = answer.no_such_file()?;
    };
    let mut blocks = answer.begins(file.len() as u64)?;
    for block in file.chunks(BLOCK) {
        blocks = blocks.block(cx, block.to_vec())?;
    }
    Ok(blocks.end(cx, checksum(0, &file))?)
}

pub fn file(cx: &Cx<'_>) -> Result<(), RecvError> {
    let (ask, service) = proto::spawn_service(transfer::pipe, store);
    let client::AnswerMessage::NoSuchFile(ask) = ask.get("letters".into())?.recv(cx)? else {
        unreachable!("there are only numbers");
    };
    let client::AnswerMessage::Begins(length, mut blocks) = ask.get("numbers".into())?.recv(cx)? else {
        unreachable!("there are numbers");
    };
    let (mut sum, mut received) = (0, 0);
    loop {
        blocks = match blocks.recv(cx)? {
            client::BlocksMessage::Block(block, next) => {
                sum = checksum(sum, &block);
                received += block.len() as u64;
                // A slow reader: the store gets at most one window ahead.
                if received % (10 * BLOCK as u64) == 0 {
                    cx.sleep(Duration::from_millis(1))?;
                }
                next
            }
            client::BlocksMessage::End(expected, _) => {
                assert_eq!((sum, received), (expected, length));
                println!("  {received} bytes, no more than 4 blocks of {BLOCK} ahead, checksum {sum:016x}");
                break;
            }
        };
    }
    service.join(cx).map_err(|_| RecvError::Closed)?.map(drop)
}
