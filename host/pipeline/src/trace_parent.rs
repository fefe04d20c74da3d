//! The trace that a request belongs to, as the W3C header `traceparent` names it.

use std::str::FromStr;

use thiserror::Error;

/// A span of somebody else's trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceParent {
    /// The trace.
    pub trace_id: u128,
    /// The span.
    pub span_id: u64,
    /// Whether it is kept there.
    pub sampled: bool,
}

/// A text does not name a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("it is not a traceparent: it looks like 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")]
pub struct TraceParentError;

impl FromStr for TraceParent {
    type Err = TraceParentError;

    fn from_str(text: &str) -> Result<Self, TraceParentError> {
        let mut parts = text.trim().split('-');
        let mut part = |length: usize| {
            let part = parts.next().filter(|part| part.len() == length);
            part.filter(|part| {
                part.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
            })
        };
        let (version, trace, span, flags) = (part(2), part(32), part(16), part(2));
        let (Some(version), Some(trace), Some(span), Some(flags)) = (version, trace, span, flags) else {
            return Err(TraceParentError);
        };
        // A later version may add parts, this one has none.
        if version == "ff" || (version == "00" && parts.next().is_some()) {
            return Err(TraceParentError);
        }
        let trace_id = u128::from_str_radix(trace, 16).map_err(|_| TraceParentError)?;
        let span_id = u64::from_str_radix(span, 16).map_err(|_| TraceParentError)?;
        let flags = u8::from_str_radix(flags, 16).map_err(|_| TraceParentError)?;
        if trace_id == 0 || span_id == 0 {
            return Err(TraceParentError);
        }
        Ok(Self { trace_id, span_id, sampled: flags & 1 == 1 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_names_a_span_or_nothing() {
        let good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let parsed: TraceParent = good.parse().unwrap();
        assert_eq!(parsed.trace_id, 0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736);
        assert_eq!((parsed.span_id, parsed.sampled), (0x00f0_67aa_0ba9_02b7, true));
        assert!(good.replace("00-4", "01-4").parse::<TraceParent>().is_ok());
        for bad in [
            "",
            "00",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e473é-00f067aa0ba902b7-01",
        ] {
            assert!(bad.parse::<TraceParent>().is_err(), "{bad}");
        }
    }
}
