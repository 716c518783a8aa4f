//! Numbers for people.

/// Three significant digits with a decimal prefix: `2.13 G`.
pub fn count(value: f64) -> String {
    let (scaled, prefix) = match value.abs() {
        v if v >= 1e9 => (value / 1e9, " G"),
        v if v >= 1e6 => (value / 1e6, " M"),
        v if v >= 1e3 => (value / 1e3, " k"),
        _ => (value, " "),
    };
    let digits = match scaled.abs() {
        v if v >= 100.0 => 0,
        v if v >= 10.0 => 1,
        _ => 2,
    };
    format!("{scaled:.digits$}{prefix}")
}

/// A duration: `1.234 s`, `12.3 ms` or `123 us`.
pub fn seconds(value: f64) -> String {
    match value {
        v if v >= 1.0 => format!("{v:.3} s"),
        v if v >= 1e-3 => format!("{:.2} ms", v * 1e3),
        v => format!("{:.0} us", v * 1e6),
    }
}

/// Mebibytes.
pub fn mebibytes(bytes: u64) -> String {
    format!("{} MiB", bytes >> 20)
}

#[cfg(test)]
mod tests {
    #[test]
    fn numbers_have_three_digits() {
        assert_eq!(super::count(2.134e9), "2.13 G");
        assert_eq!(super::count(12.34e6), "12.3 M");
        assert_eq!(super::count(999.0), "999 ");
        assert_eq!(super::seconds(0.0123), "12.30 ms");
    }
}
