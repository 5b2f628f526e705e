//! The two protocols that came with the pipes of 2012: a value that is sent once, and a stream of values.

use anabranch::{Cx, channel::RecvError, proto};

proto! {
    /// One value.
    oneshot {
        Oneshot: send<T: Send> { send(T) -> ! }
    }
}

proto! {
    /// Any number of values, without flow control.
    #[allow(endless)]
    stream {
        #[unbounded]
        Stream: send<T: Send> { send(T) -> Stream<T> }
    }
}

pub fn both(cx: &Cx<'_>) -> Result<(), RecvError> {
    let (chan, port) = oneshot::pipe();
    anabranch::spawn(move |_| chan.send("hello".to_owned()).map(drop));
    let oneshot::server::OneshotMessage::Send(text, _) = port.recv(cx)?;
    println!("  once: {text}");

    let (mut chan, mut port) = stream::pipe();
    anabranch::spawn(move |_| {
        for number in 1..=100u64 {
            chan = chan.send(number)?;
        }
        Ok::<_, anabranch::channel::Closed>(())
    });
    let mut sum = 0;
    // The protocol of the stream has no end: the stream is over when its sender is dropped.
    while let Ok(stream::server::StreamMessage::Send(number, next)) = port.recv(cx) {
        sum += number;
        port = next;
    }
    println!("  again and again: {sum}");
    Ok(())
}
