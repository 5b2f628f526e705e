//! Fibers that serve a conversation.

use crate::{
    cx::{Cx, JoinHandle, spawn},
    pool::Pool,
    proto::{
        done::{Done, Protocol},
        duplex::Endpoint,
    },
};

/// Spawns a fiber that serves a conversation, in the pool of the caller, or else in the default pool. Returns the
/// client's end and the handle of the fiber.
///
/// The service has to return the [`Done`] of this conversation, or an error that says why it left the conversation. If
/// it drops its endpoint early, the client receives `Closed`.
///
/// # Panics
/// Panics outside of any pool if the default pool cannot be made. The fiber panics if the service returns the `Done` of
/// another conversation.
///
/// ```
/// use anabranch::{channel::RecvError, proto};
///
/// proto! { pub ask {
///     Question: send { ask(u64) -> Answer }
///     Answer: recv { answer(u64) -> ! }
/// }}
///
/// let (client, service) = proto::spawn_service(ask::pipe, |cx, server| {
///     let ask::server::QuestionMessage::Ask(n, server) = server.recv(cx)?;
///     Ok::<_, RecvError>(server.answer(n * n)?)
/// });
/// anabranch::run(|cx| {
///     let ask::client::AnswerMessage::Answer(n, done) = client.ask(12).unwrap().recv(cx).unwrap();
///     assert_eq!(n, 144);
///     assert_eq!(service.join(cx).unwrap(), Ok(done));
/// });
/// ```
#[track_caller]
pub fn spawn_service<C, S, P, X, F>(pipe: impl FnOnce() -> (C, S), body: F) -> (C, JoinHandle<Result<Done<P>, X>>)
where
    S: Endpoint + Send + 'static,
    P: Protocol + 'static,
    X: Send + 'static,
    F: FnOnce(&Cx<'_>, S) -> Result<Done<P>, X> + Send + 'static,
{
    let (client, server) = pipe();
    (client, spawn(move |cx| to_its_end(cx, server, body)))
}

/// Like [`spawn_service`], in a given pool.
#[track_caller]
pub fn spawn_service_in<C, S, P, X, F>(
    pool: &Pool,
    pipe: impl FnOnce() -> (C, S),
    body: F,
) -> (C, JoinHandle<Result<Done<P>, X>>)
where
    S: Endpoint + Send + 'static,
    P: Protocol + 'static,
    X: Send + 'static,
    F: FnOnce(&Cx<'_>, S) -> Result<Done<P>, X> + Send + 'static,
{
    let (client, server) = pipe();
    (client, pool.spawn(move |cx| to_its_end(cx, server, body)))
}

/// Serves, and checks that the resulting `Done` is of the same conversation.
fn to_its_end<S: Endpoint, P: Protocol, X>(
    cx: &Cx<'_>,
    server: S,
    body: impl FnOnce(&Cx<'_>, S) -> Result<Done<P>, X>,
) -> Result<Done<P>, X> {
    let conversation = server.conversation();
    let result = body(cx, server);
    if let Ok(done) = &result {
        assert!(
            done.conversation == conversation,
            "the service of a conversation `{}` returned the `Done` of another one",
            P::NAME
        );
    }
    result
}
