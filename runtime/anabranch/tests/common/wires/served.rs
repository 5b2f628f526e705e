//! A server that receives arbitrary bytes, for the tests and for the fuzzer.

use super::Played;
use crate::common::waits::Polled;
use anabranch::{
    channel::Closed,
    proto,
    proto::wire::{Wire, WireError},
};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, sync::Arc};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Tree {
    Leaf(u32),
    Wide(Vec<Self>),
    Deep(Box<Self>),
    Named { name: String, of: Option<Box<Self>> },
}

pub type Mixed = (bool, char, i128, Option<f64>, u8);

proto! {
    #[wire(version = 3)]
    #[allow(clippy::large_enum_variant)]
    pub many {
        Ask: send {
            numbers(Vec<u64>) -> Answer,
            nothing(Vec<()>) -> Answer,
            tree(Tree) -> Answer,
            mixed(name: String, self::Mixed) -> Answer,
            table(BTreeMap<String, Vec<u8>>, [u16; 3]) -> Answer,
            quit -> !,
        }
        Answer: recv { yes -> Ask, why(String) -> Ask, no -> ! }
    }
}

/// The messages of a client.
#[derive(Debug, Clone, PartialEq)]
pub enum Said {
    Numbers(Vec<u64>),
    Nothing(Vec<()>),
    Tree(Tree),
    Mixed(String, Mixed),
    Table(BTreeMap<String, Vec<u8>>, [u16; 3]),
}

/// Runs the server, whose client is this stream. Returns what it received, and how it ended for the endpoint and for
/// the connection. Polled by hand, so that all that it allocates is counted here.
pub fn serve(bytes: &[u8], limit: usize) -> (Vec<Said>, Result<(), Closed>, Result<(), WireError>) {
    use many::server::AskMessage;
    let wire = Wire::new(Played::new(bytes, hello(true).len())).max_message(limit);
    let (mut server, connection) = match Polled::new(many::server::over_async(wire)).poll() {
        Some(Ok(begun)) => begun,
        // A handshake that announces more bytes: the server waits for the rest.
        None => return (Vec::new(), Err(Closed), Err(WireError::Lost)),
        Some(Err(error)) => return (Vec::new(), Err(Closed), Err(error)),
    };
    let mut running = Polled::new(connection.run_async());
    let mut ended = None;
    let mut heard = Vec::new();
    let end = loop {
        if ended.is_none() {
            ended = running.poll().map(|end| end.map(drop));
        }
        let answer = match server.try_recv() {
            Ok(AskMessage::Numbers(numbers, next)) => {
                heard.push(Said::Numbers(numbers));
                next
            }
            Ok(AskMessage::Nothing(nothing, next)) => {
                heard.push(Said::Nothing(nothing));
                next
            }
            Ok(AskMessage::Tree(tree, next)) => {
                heard.push(Said::Tree(tree));
                next
            }
            Ok(AskMessage::Mixed(name, mixed, next)) => {
                heard.push(Said::Mixed(name, mixed));
                next
            }
            Ok(AskMessage::Table(table, numbers, next)) => {
                heard.push(Said::Table(table, numbers));
                next
            }
            Ok(AskMessage::Quit(_done)) => break Ok(()),
            Err(proto::EndpointTryRecvError::Closed) => break Err(Closed),
            // The connection yields now and then.
            Err(proto::EndpointTryRecvError::Empty(same)) => {
                assert!(ended.is_none(), "its end is seen at the endpoint");
                server = same;
                continue;
            }
        };
        server = match answer.yes() {
            Ok(next) => next,
            Err(Closed) => break Err(Closed),
        };
    };
    // What is left is the way to its end.
    let ended = ended.unwrap_or_else(|| {
        loop {
            if let Some(end) = running.poll() {
                break end.map(drop);
            }
        }
    });
    (heard, end, ended)
}

/// The handshake of either side.
pub fn hello(is_client: bool) -> Vec<u8> {
    let played = Played::default();
    let heard = Arc::clone(&played.heard);
    let wire = Wire::new(played);
    let lost = match is_client {
        true => many::client::over(wire).map(drop),
        false => many::server::over(wire).map(drop),
    };
    assert!(matches!(lost, Err(WireError::Lost)));
    heard.lock().unwrap().clone()
}
