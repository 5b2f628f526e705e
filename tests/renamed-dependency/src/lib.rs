//! The macros of anabranch in a crate that depends on it under another name, and has a module called `anabranch`.

#![forbid(unsafe_code)]
#![cfg(test)]

mod anabranch {
    //! Nothing that the macros need.
}

ab::proto! {
    #[wire(version = 1)]
    pub counting {
        #[buffer(4)]
        Count: send { add(u64) -> Count, total -> Answer, leave -> ! }
        Answer: recv { total(Text) -> ! }
    }
}

/// A type of this crate.
#[derive(serde::Serialize, serde::Deserialize)]
pub struct Text(String);

ab::proto! {
    pub passing { Give: send<T: Send> { give(T) -> Answer<T> } Answer: recv<T> { back(T) -> ! } }
}

#[test]
fn conversation_works_under_other_name() {
    let (mut count, service) = ab::proto::spawn_service(counting::pipe, |cx, mut count| {
        let mut sum = 0;
        loop {
            match count.recv(cx)? {
                counting::server::CountMessage::Add(n, next) => (sum, count) = (sum + n, next),
                counting::server::CountMessage::Total(answer) => return Ok(answer.total(Text(sum.to_string()))?),
                counting::server::CountMessage::Leave(done) => return Ok::<_, ab::channel::RecvError>(done),
            }
        }
    });
    let total = ab::run(|cx| {
        for n in 1..=3 {
            count = count.add(cx, n).ok()?;
        }
        let counting::client::AnswerMessage::Total(text, _done) = count.total(cx).ok()?.recv(cx).ok()?;
        let _done = service.join(cx).ok()?.ok()?;
        Some(text.0)
    });
    assert_eq!(total.as_deref(), Some("6"));
    let (give, _) = passing::pipe::<u8>();
    drop(give);
}

#[test]
fn selection_works_under_other_name() {
    let (sender, receiver) = ab::channel::unbounded();
    sender.send_blocking(1).unwrap();
    let got = ab::run(|cx| {
        ab::select!(cx, {
            Ok(n) = receiver.receiving(), if !receiver.is_empty() => n,
            () = cx.sleeping(std::time::Duration::from_secs(60)) => 2,
            else => 3,
        })
    });
    assert_eq!(got, Ok(1));
}
