//! Figures for people, with three significant digits: no measurement here is more precise.

/// Formats three significant digits; all are before the decimal point if the figure is large.
pub fn three(value: f64) -> String {
    let decimals = match value.abs() {
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        _ => 2,
    };
    format!("{value:.decimals$}")
}

/// Formats bytes in binary units.
pub fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    // 1023.5 would print as 1024, which is 1 of the next unit.
    while value >= 1023.5 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{} {}", three(value), UNITS[unit])
}

/// Formats a rate of traversed edges per second.
pub fn teps(rate: f64) -> String {
    const UNITS: [&str; 5] = ["TEPS", "kTEPS", "MTEPS", "GTEPS", "TTEPS"];
    if !rate.is_finite() {
        return "none".to_owned();
    }
    let mut value = rate;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    format!("{} {}", three(value), UNITS[unit])
}

/// Formats a time in seconds.
pub fn seconds(seconds: f64) -> String {
    match seconds {
        s if !s.is_finite() => "none".to_owned(),
        s if s < 999.5e-9 => format!("{} ns", three(s * 1e9)),
        s if s < 999.5e-6 => format!("{} us", three(s * 1e6)),
        s if s < 0.9995 => format!("{} ms", three(s * 1e3)),
        s if s < 119.5 => format!("{} s", three(s)),
        s if s < 7170.0 => format!("{} min {} s", s.round() as u64 / 60, s.round() as u64 % 60),
        s => format!("{} h {} min", (s / 60.0).round() as u64 / 60, (s / 60.0).round() as u64 % 60),
    }
}

/// Formats a whole number with separated thousands.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a number of things. `noun` is in the singular.
pub fn counted(number: u64, noun: &str) -> String {
    match (number, noun.strip_suffix("ex")) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) => format!("{} {stem}ices", count(number)),
        _ => format!("{} {noun}s", count(number)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_in_binary_units() {
        assert_eq!(bytes(0), "0 B");
        assert_eq!(bytes(1023), "1023 B");
        assert_eq!(bytes(1024), "1.00 KiB");
        assert_eq!(bytes(1536 * 1024), "1.50 MiB");
        assert_eq!(bytes((1 << 30) - 1), "1.00 GiB");
        assert_eq!(bytes(23 * (1 << 30) + (1 << 29)), "23.5 GiB");
        assert_eq!(bytes(640 << 40), "640 TiB");
        assert_eq!(bytes(u64::MAX), "16.0 EiB");
    }

    #[test]
    fn rates() {
        assert_eq!(teps(0.0), "0.00 TEPS");
        assert_eq!(teps(999.4), "999 TEPS");
        assert_eq!(teps(999.6), "1.00 kTEPS");
        assert_eq!(teps(45_600_000.0), "45.6 MTEPS");
        assert_eq!(teps(3.412e9), "3.41 GTEPS");
        assert_eq!(teps(9.996e9), "10.0 GTEPS");
        assert_eq!(teps(4.1e17), "410000 TTEPS");
        assert_eq!(teps(f64::NAN), "none");
    }

    #[test]
    fn times() {
        assert_eq!(seconds(4.2e-8), "42.0 ns");
        assert_eq!(seconds(0.000_123_4), "123 us");
        assert_eq!(seconds(0.004_91), "4.91 ms");
        assert_eq!(seconds(0.9996), "1.00 s");
        assert_eq!(seconds(61.04), "61.0 s");
        assert_eq!(seconds(119.6), "2 min 0 s");
        assert_eq!(seconds(3725.0), "62 min 5 s");
        assert_eq!(seconds(7199.9), "2 h 0 min");
        assert_eq!(seconds(90_000.0), "25 h 0 min");
    }

    #[test]
    fn counts() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(16_777_216), "16,777,216");
        assert_eq!(counted(1, "vertex") + " and " + &counted(2, "thread"), "1 vertex and 2 threads");
        assert_eq!(
            counted(0, "vertex") + " and " + &counted(1000, "undirected edge"),
            "0 vertices and 1,000 undirected edges"
        );
    }
}
