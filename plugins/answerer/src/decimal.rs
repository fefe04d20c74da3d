//! Exact decimal numbers: read, compared, rounded and written with thousands separators, never through a float.

/// A non-negative decimal: `mantissa / 10^scale`.
#[derive(Debug, Clone, Copy)]
pub struct Decimal {
    mantissa: u128,
    scale: u32,
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Self) -> bool {
        self.equals(*other)
    }
}

/// Digits a `Decimal` can hold.
const DIGITS: usize = 30;
/// Decimals that are told as they are.
const LONGEST_FRACTION: usize = 4;

impl Decimal {
    /// Reads digits with an optional fraction, separators between thousands allowed. The sign is not part of it.
    pub fn parse(text: &str) -> Option<Self> {
        let text: String = text.chars().filter(|c| *c != ',').collect();
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        let digits = format!("{whole}{fraction}");
        if digits.is_empty() || digits.len() > DIGITS || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        Some(Self { mantissa: digits.parse().ok()?, scale: u32::try_from(fraction.len()).ok()? })
    }

    /// Nothing.
    pub const ZERO: Self = Self { mantissa: 0, scale: 0 };

    /// Both mantissas at one scale.
    fn aligned(self, other: Self) -> Option<(u128, u128, u32)> {
        let scale = self.scale.max(other.scale);
        let at = |number: Self| number.mantissa.checked_mul(10_u128.checked_pow(scale - number.scale)?);
        Some((at(self)?, at(other)?, scale))
    }

    /// The sum, unless it is too long.
    pub fn plus(self, other: Self) -> Option<Self> {
        let (a, b, scale) = self.aligned(other)?;
        Some(Self { mantissa: a.checked_add(b)?, scale })
    }

    /// How far both are from each other.
    pub fn apart(self, other: Self) -> Option<Self> {
        let (a, b, scale) = self.aligned(other)?;
        Some(Self { mantissa: a.abs_diff(b), scale })
    }

    /// Whether it is the smaller one.
    pub fn is_below(self, other: Self) -> bool {
        self.aligned(other).is_some_and(|(a, b, _)| a < b)
    }

    /// Whether `self` percent is what `part` is of `whole`, rounded half up to the decimals of `self`.
    pub fn is_percent_of(self, part: Self, whole: Self) -> bool {
        let rounded = || {
            let (part, whole, _) = part.aligned(whole)?;
            let unit = 10_u128.checked_pow(self.scale)?;
            let twice = part.checked_mul(200)?.checked_mul(unit)?.checked_add(whole)?;
            twice.checked_div(whole.checked_mul(2)?)
        };
        rounded() == Some(self.mantissa)
    }

    /// Multiplied by a power of ten, as `1.2 million` is.
    pub fn times_power(self, power: u32) -> Option<Self> {
        let kept = self.scale.min(power);
        let factor = 10_u128.checked_pow(power - kept)?;
        Some(Self { mantissa: self.mantissa.checked_mul(factor)?, scale: self.scale - kept })
    }

    /// Whether both are the same number, whatever zeros they are written with.
    pub fn equals(self, other: Self) -> bool {
        let (a, b) = (self.reduced(), other.reduced());
        a.mantissa == b.mantissa && a.scale == b.scale
    }

    /// Whether `self`, written with `digits` significant digits, is `exact` rounded half up to them.
    pub fn is_rounding_of(self, exact: Self, digits: usize) -> bool {
        let length = exact.mantissa.checked_ilog10().map_or(1, |log| log as usize + 1);
        let Some(dropped) = length.checked_sub(digits).and_then(|n| u32::try_from(n).ok()) else {
            return false;
        };
        if dropped == 0 {
            return false;
        }
        let Some(unit) = 10_u128.checked_pow(dropped) else { return false };
        let Some(rounded) = exact.mantissa.checked_add(unit / 2).map(|sum| sum / unit) else { return false };
        let rounded = Self { mantissa: rounded.saturating_mul(unit), scale: exact.scale };
        self.equals(rounded)
    }

    fn reduced(self) -> Self {
        let Self { mut mantissa, mut scale } = self;
        while scale > 0 && mantissa % 10 == 0 {
            mantissa /= 10;
            scale -= 1;
        }
        Self { mantissa, scale }
    }
}

/// A number of many decimals as a person says it: two places, or three digits of a number below a tenth. With `false`
/// when nothing but zeros was dropped. Absent for a number that is short enough, or none.
pub fn rounded(text: &str) -> Option<(String, bool)> {
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let (whole, fraction) = digits.split_once('.')?;
    let plain = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    if fraction.len() <= LONGEST_FRACTION || !plain(whole) || !plain(fraction) {
        return None;
    }
    let zeros = fraction.len() - fraction.trim_start_matches('0').len();
    let tiny = whole.bytes().all(|b| b == b'0') && zeros > 0 && zeros < fraction.len();
    let places = if tiny { (zeros + 3).min(fraction.len()) } else { 2 };
    let (kept, dropped) = fraction.split_at_checked(places)?;
    let up = u128::from(dropped.starts_with(|c: char| c >= '5'));
    let sum = format!("{whole}{kept}").parse::<u128>().ok()?.checked_add(up)?;
    let sum = format!("{sum:0>width$}", width = places + 1);
    let (whole, kept) = sum.split_at_checked(sum.len() - places)?;
    Some((format!("{sign}{whole}.{kept}"), dropped.bytes().any(|b| b != b'0')))
}

/// A number with separators between thousands and every digit kept; anything else as it is.
pub fn grouped(text: &str) -> String {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text),
    };
    let (whole, fraction) =
        digits.split_once('.').map_or((digits, None), |(whole, fraction)| (whole, Some(fraction)));
    let plain = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    if !plain(whole) || !fraction.is_none_or(plain) {
        return text.to_owned();
    }
    let mut out = String::from(sign);
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    if let Some(fraction) = fraction {
        out.push('.');
        out.push_str(fraction);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_separated_and_digits_kept() {
        for (text, want) in [
            ("0", "0"),
            ("999", "999"),
            ("1000", "1,000"),
            ("-1234567.890", "-1,234,567.890"),
            ("123456789012345678901234567890", "123,456,789,012,345,678,901,234,567,890"),
            ("NaN", "NaN"),
            ("1e10", "1e10"),
            ("$1,234.50", "$1,234.50"),
            ("", ""),
        ] {
            assert_eq!(grouped(text), want);
        }
    }

    #[test]
    fn many_decimals_are_rounded() {
        for (text, want) in [
            ("3428.8677098150782361", Some(("3428.87", true))),
            ("3428.0000000000000000", Some(("3428.00", false))),
            ("-0.99999", Some(("-1.00", true))),
            ("0.333333", Some(("0.33", true))),
            ("0.00012345", Some(("0.000123", true))),
            ("0.0999999", Some(("0.1000", true))),
            ("0.00000", Some(("0.00", false))),
            ("12.3456", None),
            ("12", None),
            ("NaN", None),
        ] {
            assert_eq!(rounded(text), want.map(|(text, about)| (text.to_owned(), about)), "{text}");
        }
    }

    #[test]
    fn equality_ignores_dress() {
        for (a, b, want) in [("1,234.50", "1234.5", true), ("10", "1", false), ("0.0", "0", true)] {
            assert_eq!(Decimal::parse(a).unwrap().equals(Decimal::parse(b).unwrap()), want, "{a} {b}");
        }
    }

    #[test]
    fn the_smaller_one_is_known_whatever_the_decimals() {
        for (a, b, want) in
            [("1.5", "1.49", false), ("1.49", "1.5", true), ("2", "2.00", false), ("0", "0.01", true)]
        {
            assert_eq!(Decimal::parse(a).unwrap().is_below(Decimal::parse(b).unwrap()), want, "{a} {b}");
        }
    }

    #[test]
    fn rounding_is_half_up_to_the_digits_written() {
        for (text, exact, digits, want) in [
            ("33.33", "33.333333", 4, true),
            ("33.34", "33.333333", 4, false),
            ("1230000", "1234567.89", 3, true),
            ("1235", "1234.5", 4, true),
            ("12", "12", 2, false),
        ] {
            let got = Decimal::parse(text).unwrap().is_rounding_of(Decimal::parse(exact).unwrap(), digits);
            assert_eq!(got, want, "{text} of {exact}");
        }
    }
}
