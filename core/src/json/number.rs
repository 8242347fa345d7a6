//! Numbers as text: `1.0`, `1e400` and 2^70 keep their spelling, so arithmetic also works on the spelling.

use alloc::{borrow::Cow, format, string::String, vec::Vec};
use core::cmp::Ordering;

/// A number as a sign, digits and a power of ten. Digits have no leading or trailing zeros. The exponent is the power
/// of ten of the last digit.
struct Decimal {
    negative: bool,
    digits: Vec<u8>,
    exponent: i64,
    /// False if the exponent of the text is too large for arithmetic.
    is_exact: bool,
}

/// Maximum size of an exact exponent. A larger exponent becomes a constant, so that adding the number of digits cannot
/// overflow.
const MAX_EXPONENT: u64 = 1 << 61;

fn decimal(text: &str) -> Decimal {
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (mantissa, (exponent, is_exact)) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, saturating(exponent)),
        None => (text, (0, true)),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).skip_while(|digit| *digit == b'0').collect();
    let mut exponent = exponent.saturating_sub(fraction.len() as i64);
    while digits.last() == Some(&b'0') {
        digits.pop();
        exponent = exponent.saturating_add(1);
    }
    if digits.is_empty() {
        return Decimal { negative: false, digits, exponent: 0, is_exact: true };
    }
    Decimal { negative, digits, exponent, is_exact }
}

/// Parses an exponent, and returns true if it is exact. Otherwise, only its sign is exact.
fn saturating(exponent: &str) -> (i64, bool) {
    let exponent = exponent.strip_prefix('+').unwrap_or(exponent);
    match exponent.parse::<i64>() {
        Ok(exact) if exact.unsigned_abs() <= MAX_EXPONENT => (exact, true),
        _ => (if exponent.starts_with('-') { i64::MIN / 2 } else { i64::MAX / 2 }, false),
    }
}

/// Returns true if the number is an integer, regardless of its spelling: `1.0` and `1e2` are integers, `1e-1` is not.
pub fn is_integral(text: &str) -> bool {
    decimal(text).exponent >= 0
}

/// Compares two JSON numbers by value, exactly, regardless of their size. Numbers with exponents beyond 2^61 whose
/// digits are alike are compared by their texts.
pub fn compare(left: &str, right: &str) -> Ordering {
    let texts = (left, right);
    let (left, right) = (decimal(left), decimal(right));
    match (left.negative, right.negative) {
        (false, true) => return Ordering::Greater,
        (true, false) => return Ordering::Less,
        _ => {}
    }
    let magnitude = magnitude(&left, &right);
    if magnitude.is_eq() && !(left.is_exact && right.is_exact) {
        return texts.0.cmp(texts.1);
    }
    if left.negative {
        magnitude.reverse()
    } else {
        magnitude
    }
}

fn magnitude(left: &Decimal, right: &Decimal) -> Ordering {
    match (left.digits.is_empty(), right.digits.is_empty()) {
        (true, true) => return Ordering::Equal,
        (true, false) => return Ordering::Less,
        (false, true) => return Ordering::Greater,
        _ => {}
    }
    // The number whose first digit has the higher power of ten is greater. If the powers are equal, the digits are
    // compared like the digits of a fraction.
    let point = |number: &Decimal| number.exponent.saturating_add(number.digits.len() as i64);
    point(left).cmp(&point(right)).then_with(|| left.digits.cmp(&right.digits))
}

/// Spells a number as `JSON.stringify` does, except that no digit is lost. An integer without a fraction or an exponent
/// stays unchanged.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    if !text.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E')) {
        return Cow::Borrowed(if text == "-0" { "0" } else { text });
    }
    let Decimal { negative, digits, exponent, is_exact } = decimal(text);
    if !is_exact {
        return Cow::Borrowed(text);
    }
    let digits = core::str::from_utf8(&digits).unwrap_or_default();
    if digits.is_empty() {
        return Cow::Borrowed("0");
    }
    // Position of the decimal point, counted from the first digit.
    let point = exponent.saturating_add(digits.len() as i64);
    let (sign, zeros) =
        (if negative { "-" } else { "" }, |count: i64| "0".repeat(usize::try_from(count).unwrap_or_default()));
    let spelled = match usize::try_from(point).ok().and_then(|point| digits.split_at_checked(point)) {
        _ if !(-5..=21).contains(&point) => {
            let (first, rest) = digits.split_at_checked(1).unwrap_or_default();
            let dot = if rest.is_empty() { "" } else { "." };
            format!("{first}{dot}{rest}e{:+}", point.saturating_sub(1))
        }
        Some(("", fraction)) => format!("0.{fraction}"),
        Some((whole, "")) => whole.into(),
        Some((whole, fraction)) => format!("{whole}.{fraction}"),
        None if exponent >= 0 => format!("{digits}{}", zeros(exponent)),
        None => format!("0.{}{digits}", zeros(-point)),
    };
    Cow::Owned(format!("{sign}{spelled}"))
}

pub(crate) fn canonical(text: &str) -> String {
    let Decimal { negative, digits, exponent, is_exact } = decimal(text);
    if !is_exact {
        return text.into();
    }
    let sign = if negative { "-" } else { "" };
    format!("{sign}{}e{exponent}", core::str::from_utf8(&digits).unwrap_or_default())
}

pub(crate) fn as_u64(text: &str) -> Option<u64> {
    text.parse().ok()
}

/// Returns true if the value is a multiple of the divisor. Returns `None` if the divisor is zero or has too many
/// digits, or if an exponent is too large.
pub(crate) fn is_multiple(value: &str, divisor: &str) -> Option<bool> {
    let (value, divisor) = (decimal(value), decimal(divisor));
    if divisor.digits.is_empty() || !value.is_exact || !divisor.is_exact {
        return None;
    }
    if magnitude(&value, &divisor).is_lt() {
        return Some(value.digits.is_empty());
    }
    let modulus = divisor
        .digits
        .iter()
        .try_fold(0_u64, |sum, digit| sum.checked_mul(10)?.checked_add(u64::from(digit - b'0')))?;
    let Some(zeros) = value.exponent.checked_sub(divisor.exponent).and_then(|zeros| u64::try_from(zeros).ok()) else {
        // The value's last digit is below the last digit of the divisor. Only zero is then a multiple.
        return Some(value.digits.is_empty());
    };
    let multiply = |left: u64, right: u64| (u128::from(left) * u128::from(right) % u128::from(modulus)) as u64;
    let digits = value
        .digits
        .iter()
        .fold(0, |rest, digit| ((u128::from(rest) * 10 + u128::from(digit - b'0')) % u128::from(modulus)) as u64);
    // Appends the zeros after the digits by repeated squaring, because an exponent can mean a huge number of zeros.
    let (mut power, mut base, mut exponent) = (1 % modulus, 10 % modulus, zeros);
    while exponent > 0 {
        if exponent & 1 == 1 {
            power = multiply(power, base);
        }
        base = multiply(base, base);
        exponent >>= 1;
    }
    Some(multiply(digits, power) == 0)
}

/// Returns the exact sum, in the spelling of [`plain`], or `None` if it needs more than 38 digits or an exponent is too
/// large.
pub(crate) fn sum(left: &str, right: &str) -> Option<String> {
    let numbers = (decimal(left), decimal(right));
    // A zero has no power of ten, so it does not limit the other number.
    let (left, right) = match (numbers.0.digits.is_empty(), numbers.1.digits.is_empty()) {
        (true, _) => return Some(plain(right).into_owned()),
        (_, true) => return Some(plain(left).into_owned()),
        _ => numbers,
    };
    if !left.is_exact || !right.is_exact {
        return None;
    }
    let exponent = left.exponent.min(right.exponent);
    let scaled = |number: &Decimal| {
        let mut digits = number.digits.iter();
        let mut value =
            digits.try_fold(0_i128, |value, digit| value.checked_mul(10)?.checked_add((digit - b'0').into()))?;
        let mut zeros = number.exponent.saturating_sub(exponent);
        // Each zero multiplies the value by ten, so a huge exponent overflows after a few steps.
        while zeros > 0 && value != 0 {
            value = value.checked_mul(10)?;
            zeros -= 1;
        }
        Some(if number.negative { -value } else { value })
    };
    let sum = scaled(&left)?.checked_add(scaled(&right)?)?;
    Some(plain(&format!("{sum}e{exponent}")).into_owned())
}

pub(crate) fn spell(value: u64) -> String {
    use alloc::string::ToString;
    value.to_string()
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::{canonical, compare, is_multiple, plain, sum};

    #[test]
    fn divisibility_is_exact_for_decimal_numbers() {
        for (value, divisor, expected) in [
            ("7", "2", Some(false)),
            ("-14", "7", Some(true)),
            ("0.3", "0.1", Some(true)),
            ("4.35", "0.01", Some(true)),
            ("0.0075", "0.0001", Some(true)),
            ("0.00751", "0.0001", Some(false)),
            ("1e308", "0.123456789", Some(false)),
            ("12391239123", "1e-8", Some(true)),
            ("1e999999999999", "3", Some(false)),
            ("3e999999999999", "3", Some(true)),
            ("15", "10", Some(false)),
            ("0", "1e400", Some(true)),
            ("9007199254740993", "9007199254740993", Some(true)),
            ("18446744073709551617", "2", Some(false)),
            ("1", "0", None),
            ("1", "18446744073709551616.5", Some(false)),
            ("1e40", "18446744073709551616.5", None),
        ] {
            assert_eq!(is_multiple(value, divisor), expected, "{value} by {divisor}");
        }
    }

    #[test]
    fn numbers_with_huge_exponents_differ() {
        let huge =
            ["1e99999999999999999998", "1e99999999999999999999", "10e9223372036854775807", "1e9223372036854775807"];
        for one in huge {
            for two in huge {
                assert_eq!(compare(one, two).is_eq(), one == two, "{one} {two}");
                assert_eq!(canonical(one) == canonical(two), one == two, "{one} {two}");
            }
            assert!(compare("1e400", one).is_lt() && compare(&format!("-{one}"), "-1e400").is_lt());
            assert_eq!((plain(one).as_ref(), sum(one, "1"), is_multiple(one, "3")), (one, None, None));
        }
        assert!(compare("0e99999999999999999999", "0").is_eq() && compare("1e-99999999999999999999", "0").is_gt());
    }

    #[test]
    fn numbers_are_written_as_javascript_writes_them() {
        let cases = [
            ("1", "1"),
            ("-0", "0"),
            ("-0.0", "0"),
            ("1.0", "1"),
            ("1.50", "1.5"),
            ("-12.5e1", "-125"),
            ("1e2", "100"),
            ("1E+20", "100000000000000000000"),
            ("1e21", "1e+21"),
            ("1.25e400", "1.25e+400"),
            ("0.1", "0.1"),
            ("0.000001", "0.000001"),
            ("0.0000001", "1e-7"),
            ("-1.5e-9", "-1.5e-9"),
            ("1180591620717411303424", "1180591620717411303424"),
        ];
        for (text, expected) in cases {
            assert_eq!(plain(text), expected, "{text}");
        }
    }

    #[test]
    fn sums_are_exact() {
        let cases = [
            ("80", "0", Some("80")),
            ("0.5", "0.5", Some("1")),
            ("0.1", "0.2", Some("0.3")),
            ("1e-7", "2.5e-7", Some("3.5e-7")),
            ("-3", "1.25", Some("-1.75")),
            ("0", "0.0", Some("0")),
            ("18446744073709551615", "1", Some("18446744073709551616")),
            ("12345678901234", "0.00000000000000000001", Some("12345678901234.00000000000000000001")),
            ("1e400", "1", None),
            ("0", "1e400", Some("1e+400")),
        ];
        for (left, right, expected) in cases {
            assert_eq!(sum(left, right).as_deref(), expected, "{left} + {right}");
            assert_eq!(sum(right, left).as_deref(), expected, "{right} + {left}");
        }
    }
}
