//! Names, the text of tokens, and a hash.

use proc_macro2::{Group, Ident, Spacing, TokenStream, TokenTree};
use quote::format_ident;
use syn::ext::IdentExt;

/// Returns a name in camel case: `insufficient_funds` becomes `InsufficientFunds`.
pub(crate) fn camel(name: &Ident) -> Ident {
    let mut camel = String::new();
    for part in name.unraw().to_string().split('_') {
        let mut letters = part.chars();
        camel.extend(letters.next().into_iter().flat_map(char::to_uppercase));
        camel.extend(letters);
    }
    // No variant can have these names.
    if matches!(camel.as_str(), "Self" | "") {
        camel.push_str("Message");
    }
    format_ident!("{camel}", span = name.span())
}

/// Returns the name that is most similar to a misspelt one, if any is similar enough.
pub(crate) fn nearest<'a>(name: &str, among: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let fold = |text: &str| text.to_lowercase().replace('_', "");
    let nearness = among.map(|other| (distance(&fold(name), &fold(other)), other));
    let (distance, other) = nearness.min()?;
    (distance <= name.len() / 3).then_some(other)
}

/// Returns the number of letters to change, add or remove (the Levenshtein distance).
fn distance(one: &str, two: &str) -> usize {
    let two: Vec<char> = two.chars().collect();
    let mut row: Vec<usize> = (0..=two.len()).collect();
    for (i, a) in one.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, &b) in two.iter().enumerate() {
            let changed = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[two.len()]
}

/// Replaces `::anabranch` by the name of the runtime.
pub(crate) fn with_runtime(tokens: TokenStream, runtime: &Ident) -> TokenStream {
    let mut replaced: Vec<TokenTree> = Vec::new();
    for token in tokens {
        match token {
            TokenTree::Ident(name) if name == "anabranch" && ends_with_colons(&replaced) => {
                replaced.truncate(replaced.len() - 2);
                // The colons after a name are part of a path in that crate.
                replaced.push(runtime.clone().into());
            }
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), with_runtime(group.stream(), runtime));
                inner.set_span(group.span());
                replaced.push(inner.into());
            }
            other => replaced.push(other),
        }
    }
    replaced.into_iter().collect()
}

/// Returns whether the tokens end with `::` that begins a path.
fn ends_with_colons(tokens: &[TokenTree]) -> bool {
    let is_colon = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ':');
    let [before @ .., first, second] = tokens else { return false };
    let continues = matches!(before.last(), Some(TokenTree::Ident(name)) if !is_keyword(name));
    is_colon(first) && is_colon(second) && !continues
}

/// Returns whether a path may begin after this word.
fn is_keyword(name: &Ident) -> bool {
    matches!(
        name.to_string().as_str(),
        "impl"
            | "for"
            | "as"
            | "dyn"
            | "use"
            | "mut"
            | "return"
            | "in"
            | "where"
            | "match"
            | "if"
            | "await"
            | "let"
            | "ref"
            | "move"
            | "break"
    )
}

/// Returns tokens as text, with the usual spaces.
pub(crate) fn written(tokens: impl quote::ToTokens) -> String {
    let mut text = String::new();
    write(&mut text, tokens.to_token_stream());
    text
}

/// Appends tokens to `text`, with the usual spaces.
fn write(text: &mut String, tokens: TokenStream) {
    let mut is_word_before = false;
    for token in tokens {
        let is_word = matches!(token, TokenTree::Ident(_) | TokenTree::Literal(_));
        if is_word && is_word_before {
            text.push(' ');
        }
        is_word_before = is_word;
        match token {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    proc_macro2::Delimiter::Parenthesis => ("(", ")"),
                    proc_macro2::Delimiter::Bracket => ("[", "]"),
                    proc_macro2::Delimiter::Brace => ("{", "}"),
                    proc_macro2::Delimiter::None => ("", ""),
                };
                text.push_str(open);
                write(text, group.stream());
                text.push_str(close);
            }
            TokenTree::Punct(punct) => {
                let is_second = text.ends_with(':');
                text.push(punct.as_char());
                let is_colon = punct.as_char() == ':' && punct.spacing() == Spacing::Alone && !is_second;
                if is_colon || matches!(punct.as_char(), ',' | ';') {
                    text.push(' ');
                }
            }
            other => text.push_str(&other.to_string()),
        }
    }
}

/// Returns the FNV-1a hash of a text. It is the same in every build and on every platform.
pub(crate) fn hash(text: &str) -> u64 {
    text.bytes().fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3))
}

/// Adapts paths that begin with `self` or `super` to code that is `depth` modules further in.
pub(crate) fn from_within(tokens: TokenStream, depth: usize) -> TokenStream {
    let mut seen = Vec::<TokenTree>::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let follows_colon = matches!(seen.last(), Some(TokenTree::Punct(punct)) if punct.as_char() == ':');
        match token {
            TokenTree::Ident(name) if !follows_colon && (name == "super" || name == "self") => {
                let leads = matches!(tokens.peek(), Some(TokenTree::Punct(punct)) if punct.as_char() == ':');
                if !leads {
                    seen.push(name.into());
                    continue;
                }
                let count = depth + usize::from(name == "super");
                for nth in 0..count {
                    if nth > 0 {
                        seen.extend(quote::quote!(::));
                    }
                    seen.push(Ident::new("super", name.span()).into());
                }
            }
            TokenTree::Group(group) => {
                let mut inside = proc_macro2::Group::new(group.delimiter(), from_within(group.stream(), depth));
                inside.set_span(group.span());
                seen.push(inside.into());
            }
            other => seen.push(other),
        }
    }
    seen.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_follow_their_rules() {
        let name = |text: &str| syn::parse_str::<Ident>(text).unwrap();
        assert_eq!(camel(&name("insufficient_funds")), "InsufficientFunds");
        assert_eq!(camel(&name("r#type")), "Type");
        assert_eq!(camel(&name("__")), "Message");
        assert_eq!(nearest("conected", ["Login", "Connected"].into_iter()), Some("Connected"));
        assert_eq!(nearest("Withdraw", ["Login", "Connected"].into_iter()), None);
        let seen = |text: &str| written(from_within(text.parse().unwrap(), 2));
        assert_eq!(seen("Vec<super::A>"), "Vec<super::super::super::A>");
        assert_eq!(seen("(self::A, crate::super_a::B)"), "(super::super::A, crate::super_a::B)");
        assert_eq!(hash(""), 0xCBF2_9CE4_8422_2325);
        assert_eq!(hash("a"), 0xAF63_DC4C_8601_EC8C);
    }
}
