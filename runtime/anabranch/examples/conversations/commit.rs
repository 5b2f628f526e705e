//! Two-phase commit: all participants commit, or none. The coordinator receives the votes in the order of their
//! arrival.

use anabranch::{
    Cx,
    channel::{ReceiverSet, RecvError},
    proto,
};

proto! { pub commit {
    /// The coordinator asks for a vote. A participant that votes yes is bound to it.
    Prepare: send { prepare(String) -> Vote }
    Vote: recv { yes -> Decide, no(String) -> ! }
    Decide: send { commit -> Outcome, abort -> ! }
    Outcome: recv { done -> ! }
}}

use commit::{client, server};

/// Votes yes unless there is an objection.
fn participant(cx: &Cx<'_>, server: server::Prepare, objection: Option<&str>) -> Result<commit::Done, RecvError> {
    let server::PrepareMessage::Prepare(_what, vote) = server.recv(cx)?;
    if let Some(objection) = objection {
        return Ok(vote.no(objection.to_owned())?);
    }
    match vote.yes()?.recv(cx)? {
        server::DecideMessage::Commit(outcome) => Ok(outcome.done()?),
        server::DecideMessage::Abort(done) => Ok(done),
    }
}

/// Returns whether all participants committed.
fn coordinator(cx: &Cx<'_>, what: &str, participants: Vec<client::Prepare>) -> Result<bool, RecvError> {
    let mut votes = ReceiverSet::new();
    for participant in participants {
        votes.insert(participant.prepare(what.to_owned())?);
    }
    let (mut willing, mut objections) = (Vec::new(), 0);
    while !votes.is_empty() {
        match votes.recv(cx)?.1 {
            Ok(client::VoteMessage::Yes(decide)) => willing.push(decide),
            Ok(client::VoteMessage::No(why, _)) => {
                println!("  {what}: no, {why}");
                objections += 1;
            }
            // A participant that has left has not voted yes.
            Err(_) => objections += 1,
        }
    }
    if objections > 0 {
        for participant in willing {
            let _aborted = participant.abort()?;
        }
        return Ok(false);
    }
    let mut outcomes: ReceiverSet<_> = willing.into_iter().map(client::Decide::commit).collect::<Result<_, _>>()?;
    while !outcomes.is_empty() {
        // A participant that leaves now has to find out the result later.
        let _ = outcomes.recv(cx)?;
    }
    Ok(true)
}

pub fn rounds(cx: &Cx<'_>) -> Result<(), RecvError> {
    for (what, objection) in [("a meeting on Monday", None), ("a meeting on Sunday", Some("it is Sunday"))] {
        let (clients, services): (Vec<_>, Vec<_>) = (0..100)
            .map(|nth| {
                let objection = objection.filter(|_| nth == 42);
                proto::spawn_service(commit::pipe, move |cx, server| participant(cx, server, objection))
            })
            .unzip();
        let was_done = coordinator(cx, what, clients)?;
        for service in services {
            let _done = service.join(cx).map_err(|_| RecvError::Closed)??;
        }
        println!("  {what}: {}", if was_done { "all 100 have done it" } else { "nobody has done it" });
    }
    Ok(())
}
