//! Heads and bodies without sockets.

use anabranch_servers::http::{
    Buffer, CopyError, Decoder, Framing, LONGEST_HEAD, Refused, Request, Response, copy_body, encode, read_head,
};
use std::io::{BufReader, ErrorKind, Read};

/// Delivers its bytes in pieces of changing length.
struct Pieces<'a>(&'a [u8], usize);

impl Read for Pieces<'_> {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        self.1 = self.1 * 7 % 23 + 1;
        let count = self.1.min(to.len()).min(self.0.len());
        to[..count].copy_from_slice(&self.0[..count]);
        self.0 = &self.0[count..];
        Ok(count)
    }
}

fn copied(bytes: &[u8], framing: Framing, is_chunked: bool) -> Result<(Vec<u8>, Vec<u8>), CopyError> {
    let (mut to, mut rest) = (Vec::new(), Vec::new());
    let mut buffer = Buffer::default();
    copy_body(&mut buffer.over(Pieces(bytes, 5)), framing, &mut to, is_chunked)?;
    // What the buffer holds, and what follows.
    let left = bytes.len();
    buffer.over(Pieces(&[], 1)).read_to_end(&mut rest).unwrap();
    assert!(rest.len() <= left);
    Ok((to, rest))
}

#[test]
fn bodies_end_where_they_should_in_pieces_of_any_length() {
    let body: Vec<u8> = (0..5000u32).map(|index| (index % 251) as u8).collect();
    let mut chunked = Vec::new();
    for (index, part) in body.chunks(777).enumerate() {
        encode(part, true, &mut chunked);
        if index == 2 {
            // A chunk with an extension.
            chunked.extend_from_slice(b"1;name=\"value\"\r\n!\r\n");
        }
    }
    chunked.extend_from_slice(b"0\r\nTrailer: ignored\r\n\r\nnext");
    let mut expected = body.clone();
    expected.insert(3 * 777, b'!');
    let (to, rest) = copied(&chunked, Framing::Chunked, false).unwrap();
    assert!(to == expected && b"next".starts_with(&rest));
    let (again, _) = copied(&chunked, Framing::Chunked, true).unwrap();
    assert!(copied(&again, Framing::Chunked, false).unwrap().0 == expected);
    assert!(copied(&body, Framing::UntilEnd, false).unwrap().0 == body);
    assert_eq!(copied(b"abcnext", Framing::Length(3), false).unwrap().0, b"abc");
    assert_eq!(copied(b"next", Framing::Length(0), true).unwrap().0, b"0\r\n\r\n");
}

#[test]
fn wrong_and_short_bodies_are_refused() {
    let read = |bytes: &[u8], framing| match copied(bytes, framing, false) {
        Err(CopyError::Read(error)) => error.kind(),
        other => panic!("{other:?}"),
    };
    for wrong in [
        &b"x\r\n"[..],
        b"\r\n",
        b"+1\r\na\r\n",
        b"11111111111111111\r\n",
        b"1\na\r\n",
        b"1\r\nab\r\n",
        &[b"1;".to_vec(), vec![b'x'; 9000]].concat(),
        &[b"0\r\n".to_vec(), b"a: b\r\n".repeat(9000)].concat(),
    ] {
        assert_eq!(read(wrong, Framing::Chunked), ErrorKind::InvalidData, "{:?}", String::from_utf8_lossy(wrong));
    }
    for short in [&b""[..], b"5\r\nabc", b"0\r\n"] {
        assert_eq!(read(short, Framing::Chunked), ErrorKind::UnexpectedEof);
    }
    assert_eq!(read(b"ab", Framing::Length(3)), ErrorKind::UnexpectedEof);
    assert!(Decoder::new(Framing::Length(0)).is_done());
}

#[test]
fn heads_are_read_line_by_line_up_to_a_limit() {
    let mut reader = BufReader::new(&b"\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\nrest"[..]);
    let head = read_head(&mut reader).unwrap().unwrap();
    assert_eq!(head, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_eq!(reader.buffer(), b"rest");
    assert!(read_head(&mut &b""[..]).unwrap().is_none());
    assert_eq!(read_head(&mut &b"GET"[..]).unwrap_err().kind(), ErrorKind::UnexpectedEof);
    let long = "x".repeat(LONGEST_HEAD + 1);
    assert_eq!(Refused::of(&read_head(&mut long.as_bytes()).unwrap_err()).unwrap().status, 431);
    let many = format!("GET / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(65));
    assert_eq!(Request::parse(many.as_bytes()).unwrap_err().status, 431);
}

#[test]
fn framing_that_is_not_clear_is_refused() {
    let request = |fields: &str| Request::parse(format!("POST / HTTP/1.1\r\nHost: a\r\n{fields}\r\n").as_bytes());
    let framing = |fields| request(fields).unwrap().framing();
    assert_eq!(framing(""), Ok(Framing::Length(0)));
    assert_eq!(framing("Content-Length: 5\r\ncontent-length: 5, 5\r\n"), Ok(Framing::Length(5)));
    assert_eq!(framing("Transfer-Encoding: Chunked\r\n"), Ok(Framing::Chunked));
    for wrong in [
        "Content-Length: 5\r\nContent-Length: 6\r\n",
        "Content-Length: +5\r\n",
        "Content-Length: 99999999999999999999\r\n",
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: gzip\r\n",
        "Transfer-Encoding: chunked, gzip\r\n",
        "Transfer-Encoding: gzip, chunked\r\n",
    ] {
        assert_eq!(framing(wrong).unwrap_err().status, 400, "{wrong}");
    }
    for wrong in ["Host: b\r\n", "Content-Length : 5\r\n", " folded: x\r\n"] {
        assert_eq!(request(wrong).unwrap_err().status, 400, "{wrong}");
    }
    let old = Request::parse(b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n").unwrap();
    assert_eq!(old.framing().unwrap_err().status, 400);
    let response = |text: &str| Response::parse(text.as_bytes()).unwrap();
    assert_eq!(response("HTTP/1.1 200 OK\r\n\r\n").framing("GET"), Ok(Framing::UntilEnd));
    assert_eq!(response("HTTP/1.1 204 -\r\nContent-Length: 7\r\n\r\n").framing("GET"), Ok(Framing::Length(0)));
    assert_eq!(response("HTTP/1.1 200 -\r\nContent-Length: 7\r\n\r\n").framing("HEAD"), Ok(Framing::Length(0)));
    let both = response("HTTP/1.1 200 -\r\nContent-Length: 7\r\nTransfer-Encoding: chunked\r\n\r\n");
    assert_eq!(both.framing("GET"), Ok(Framing::Chunked));
}
