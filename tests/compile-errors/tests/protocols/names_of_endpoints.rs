anabranch_macros::proto! {
    pub chat {
        Chat: send { say(String) -> ChatMessage, leave -> Done }
        ChatMessage: recv { heard -> Chat }
        Done: recv { left -> ! }
    }
}

fn main() {}
