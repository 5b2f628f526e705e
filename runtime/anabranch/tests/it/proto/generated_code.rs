//! The code that `proto!` generates: it needs no `unsafe`, clashes with no name, and ties each `Done` to its
//! conversation.

#![forbid(unsafe_code)]

use crate::common::{LONG, watchdog};
use anabranch::{
    JoinError,
    channel::RecvError,
    proto::{self, Done},
};

anabranch::proto! { bounded {
    Ask: send { ask(u64, end: u64) -> Answer, quit -> ! }
    Answer: recv { answer(message: u64) -> Ask }
}}
anabranch::proto! { buffered { Tell: send { tell(u64, end: u64, line: u64) -> Tell, quit(end: u64) -> ! } } }
anabranch::proto! { #[allow(endless)] of_any { #[unbounded] Tell: send<T: Send> { tell(T) -> Tell<T> } } }

fn bounded_to_its_end() -> (bounded::Done, bounded::Done) {
    let (client, server) = bounded::pipe();
    let client = client.quit().unwrap();
    let Ok(bounded::server::AskMessage::Quit(server)) = server.try_recv() else { panic!("not said") };
    (client, server)
}

fn buffered_to_its_end() -> (buffered::Done, buffered::Done) {
    let (client, server) = buffered::pipe();
    let client = client.try_tell(1, 2, 3).unwrap().try_quit(4).unwrap();
    let Ok(buffered::server::TellMessage::Tell(1, 2, 3, server)) = server.try_recv() else { panic!("not said") };
    let Ok(buffered::server::TellMessage::Quit(4, server)) = server.try_recv() else { panic!("not said") };
    (client, server)
}

#[test]
fn fields_may_be_named_like_generated_variables() {
    let (client, server) = bounded::pipe();
    let client = client.ask(1, 2).unwrap();
    let Ok(bounded::server::AskMessage::Ask(1, 2, server)) = server.try_recv() else { panic!("not said") };
    let _server = server.answer(3).unwrap();
    let Ok(bounded::client::AnswerMessage::Answer(3, _)) = client.try_recv() else { panic!("not said") };
    let (client, server) = of_any::pipe();
    let _client = client.tell("text").unwrap();
    assert!(matches!(server.try_recv(), Ok(of_any::server::TellMessage::Tell("text", _))));
}

#[test]
fn done_identifies_its_conversation() {
    fn check<P: proto::Protocol>(to_its_end: impl Fn() -> (Done<P>, Done<P>)) {
        let (one, other) = (to_its_end(), to_its_end());
        assert_eq!(one.0, one.1);
        assert_eq!(other.0, other.1);
        assert_ne!(one.0, other.0);
    }
    check(bounded_to_its_end);
    check(buffered_to_its_end);
}

#[test]
fn service_panics_if_done_is_of_another_conversation() {
    watchdog(LONG, || {
        let (client, service) = proto::spawn_service(bounded::pipe, |_, server| {
            drop(server);
            Ok::<_, RecvError>(bounded_to_its_end().0)
        });
        let error = anabranch::run(|cx| service.join(cx)).unwrap_err();
        let JoinError::Panicked(payload) = error else { panic!("{error:?}") };
        let text = payload.downcast_ref::<String>().unwrap();
        assert_eq!(text, "the service of a conversation `bounded` returned the `Done` of another one");
        assert!(client.quit().is_err());
    });
}
