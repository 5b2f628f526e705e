anabranch_macros::proto! {
    pub chat {
        Chat: send { say(ChatMessage) -> Chat, to(Vec<client::Chat>) -> !, is_closed -> ! }
    }
}

fn main() {}
