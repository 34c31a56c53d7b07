//! Amounts as people write them, in cents.

/// Reads `12.50`, `12` or `-3.07`.
pub fn parse(text: &str) -> Result<i64, String> {
    let (whole, part) = text.split_once('.').unwrap_or((text, "00"));
    let whole: i64 = whole.parse().map_err(|_| format!("not an amount: {text}"))?;
    let part: i64 = part.parse().map_err(|_| format!("not an amount: {text}"))?;
    Ok(whole * 100 + part)
}

/// Writes 1250 as `12.50`.
pub fn show(cents: i64) -> String {
    let sign = if cents < 0 { "-" } else { "" };
    format!("{sign}{}.{:02}", cents.abs() / 100, cents.abs() % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_cents() {
        assert_eq!(parse("12.50"), Ok(1250));
    }
    #[test]
    fn parses_whole() {
        assert_eq!(parse("12"), Ok(1200));
    }
    #[test]
    fn parses_negative() {
        assert_eq!(parse("-3.07"), Ok(-307));
    }
    #[test]
    fn refuses_words() {
        assert!(parse("twelve").is_err());
    }
    #[test]
    fn shows_negative() {
        assert_eq!(show(-1205), "-12.05");
    }
}
