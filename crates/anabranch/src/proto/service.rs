//! Fibers that hold a conversation.

use crate::{
    cx::{Cx, JoinHandle, spawn},
    pool::Pool,
    proto::{
        done::{Done, Protocol},
        duplex::Endpoint,
    },
};

/// Begins a conversation with a fiber that serves it, in the pool that the caller is in, or else in the default one:
/// the client's end, and the fiber.
///
/// The service has to return the [`Done`] of this conversation, or an error that says why the conversation was left.
/// What it drops half-way, its client sees as closed.
///
/// # Panics
/// Outside of any pool, when the default pool cannot be made. The fiber panics when the service returns the `Done` of
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

/// As [`spawn_service`], in a pool of one's own.
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

/// Serves, and sees to it that what comes of it is of the same conversation.
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
