//! What is said of a fiber that has overflowed its stack: put together and written as a signal handler may, without an
//! allocation and without a lock.

/// See the [module](self). What does not fit is cut off.
pub(super) struct LastWords {
    bytes: [u8; 512],
    len: usize,
}

/// How much of a fiber's name is shown, in bytes.
const MAX_NAME: usize = 256;

impl LastWords {
    /// Of a fiber with a stack of so many bytes.
    pub(super) fn of(stack_size: usize, name: Option<&str>) -> Self {
        let mut message = Self { bytes: [0; 512], len: 0 };
        message.push(b"anabranch: the stack of ");
        match name.map(str::as_bytes) {
            None => message.push(b"a fiber"),
            Some(name) => {
                message.push(b"fiber `");
                message.push(name.get(..MAX_NAME).unwrap_or(name));
                message.push(if name.len() > MAX_NAME { b"...`" } else { b"`" });
            }
        }
        message.push(b" overflowed (");
        message.push_number(stack_size >> 10);
        message.push(b" KiB); make it larger with Builder::fiber_stack_size\n");
        message
    }

    fn push(&mut self, text: &[u8]) {
        for byte in text.iter().take(self.bytes.len() - self.len) {
            self.bytes[self.len] = *byte;
            self.len += 1;
        }
    }

    fn push_number(&mut self, mut number: usize) {
        let mut digits = [0; 20];
        let mut first = digits.len();
        loop {
            first -= 1;
            digits[first] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                return self.push(&digits[first..]);
            }
        }
    }

    fn text(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// Writes to the standard error stream, as far as that can be done.
    pub(super) fn write(&self) {
        let mut rest = self.text();
        while !rest.is_empty() {
            // SAFETY: `rest` is valid to be read.
            let written = unsafe { libc::write(libc::STDERR_FILENO, rest.as_ptr().cast(), rest.len()) };
            match usize::try_from(written) {
                Ok(written) if written > 0 => rest = &rest[written.min(rest.len())..],
                _ => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_fits_into_its_buffer() {
        let text = |size, name| String::from_utf8(LastWords::of(size, name).text().to_vec()).unwrap();
        let end = "make it larger with Builder::fiber_stack_size\n";
        assert_eq!(text(0, None), format!("anabranch: the stack of a fiber overflowed (0 KiB); {end}"));
        let (long, longest) = ("x".repeat(MAX_NAME), "x".repeat(MAX_NAME + 1));
        assert_eq!(
            text(10 << 20, Some(&long)),
            format!("anabranch: the stack of fiber `{long}` overflowed (10240 KiB); {end}")
        );
        let text = text(usize::MAX, Some(&longest));
        assert_eq!(
            text,
            format!("anabranch: the stack of fiber `{long}...` overflowed ({} KiB); {end}", usize::MAX >> 10)
        );
    }
}
