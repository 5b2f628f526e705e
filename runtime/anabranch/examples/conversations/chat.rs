//! A chat room. Each guest has two conversations with the host: it sends in one and receives in the other. It passes
//! the endpoint of the latter to the host when it enters (delegation).

use anabranch::{
    Cx,
    channel::{ReceiverSet, RecvError},
    proto,
};
use std::collections::HashMap;

proto! {
    /// The lines for a guest, from the host's view. The host does not wait for slow guests.
    pub hearing {
        #[unbounded]
        Hear: send { line(String) -> Hear, closing -> ! }
    }
}

proto! {
    /// The lines of a guest.
    pub speaking {
        Enter: send { enter(name: String, hearing::client::Hear) -> Welcome }
        Welcome: recv { welcome -> Speak, name_is_taken(hearing::client::Hear) -> ! }
        #[buffer(8)]
        Speak: send { say(String) -> Speak, leave -> ! }
    }
}

use speaking::{client, server};

/// Admits guests, and forwards their lines until all have left. Returns the number of lines.
fn host(cx: &Cx<'_>, doors: Vec<server::Enter>) -> Result<usize, RecvError> {
    let mut ears: HashMap<String, hearing::client::Hear> = HashMap::new();
    let mut names = HashMap::new();
    let mut mouths = ReceiverSet::new();
    for door in doors {
        let server::EnterMessage::Enter(name, ear, welcome) = door.recv(cx)?;
        if ears.contains_key(&name) {
            let _refused = welcome.name_is_taken(ear)?;
            continue;
        }
        names.insert(mouths.insert(welcome.welcome()?), name.clone());
        ears.insert(name, ear);
    }
    let mut lines = 0;
    while let Ok((member, said)) = mouths.recv(cx) {
        let name = names.remove(&member).expect("each guest has a name");
        if let Ok(server::SpeakMessage::Say(line, next)) = said {
            lines += 1;
            let delivered =
                ears.drain().filter_map(|(guest, ear)| Some((guest, ear.line(format!("{name}: {line}")).ok()?)));
            ears = delivered.collect();
            names.insert(mouths.insert(next), name);
        }
    }
    for ear in ears.into_values() {
        let _ = ear.closing();
    }
    Ok(lines)
}

/// Sends a line, leaves, and receives until the room closes. Returns the number of lines received, or `None` if it was
/// not admitted.
fn guest(cx: &Cx<'_>, door: client::Enter, name: &str) -> Result<Option<usize>, RecvError> {
    let (hosts_ear, mut ear) = hearing::pipe();
    let mut speak = match door.enter(name.to_owned(), hosts_ear)?.recv(cx)? {
        client::WelcomeMessage::Welcome(speak) => speak,
        client::WelcomeMessage::NameIsTaken(..) => return Ok(None),
    };
    for line in ["hello", "how are you?", "bye"] {
        speak = speak.say(cx, line.to_owned())?;
    }
    let _left = speak.leave(cx)?;
    let mut heard = 0;
    loop {
        ear = match ear.recv(cx)? {
            hearing::server::HearMessage::Line(_, next) => {
                heard += 1;
                next
            }
            hearing::server::HearMessage::Closing(_) => return Ok(Some(heard)),
        };
    }
}

pub fn evening(cx: &Cx<'_>) -> Result<(), RecvError> {
    let (doors, hosts): (Vec<_>, Vec<_>) = (0..4).map(|_| speaking::pipe()).unzip();
    let host = anabranch::spawn(move |cx| host(cx, hosts));
    let guests: Vec<_> = doors
        .into_iter()
        .zip(["Ann", "Ben", "Cleo", "Ann"])
        .map(|(door, name)| (name, anabranch::spawn(move |cx| guest(cx, door, name))))
        .collect();
    for (name, guest) in guests {
        match guest.join(cx).map_err(|_| RecvError::Closed)?? {
            Some(heard) => println!("  {name} has heard {heard} lines"),
            None => println!("  the name {name} was taken"),
        }
    }
    println!("  {} lines were said", host.join(cx).map_err(|_| RecvError::Closed)??);
    Ok(())
}
