//! Checks of domains: a cast to a domain runs them, so they are judged as a text that a stranger wrote is.

use airlock_types::catalogue::{TypeKind, TypeObject};

use super::Vocabulary;
use crate::parse;
use crate::policy::Limits;
use crate::rejection::Refusal;
use crate::scan;
use crate::scope::Value;
use crate::walk::Walk;

/// Longest check that is read.
const LONGEST: usize = 4_096;

/// How often the domains are gone through: a check may cast to another domain, whose check must be clean first.
const ROUNDS: usize = 8;

impl Vocabulary {
    /// Finds the domains whose checks run only known code.
    pub(super) fn index_checks(&mut self, limits: &Limits) {
        for _ in 0..ROUNDS {
            let clean: Vec<_> = self
                .types
                .values()
                .filter(|object| !self.checked.contains(&object.name) && self.is_clean(object, limits))
                .map(|object| object.name.clone())
                .collect();
            if clean.is_empty() {
                return;
            }
            self.checked.extend(clean);
        }
    }

    fn is_clean(&self, object: &TypeObject, limits: &Limits) -> bool {
        let Some(base) = object.base.as_ref().filter(|_| object.kind == TypeKind::Domain) else {
            return false;
        };
        let value = Value::of(self.kind(base, false));
        !object.checks.is_empty()
            && object.checks.iter().all(|check| self.check_is_clean(check, &value, limits).is_ok())
    }

    fn check_is_clean(&self, check: &str, value: &Value, limits: &Limits) -> Result<(), Box<Refusal>> {
        let text = format!("SELECT {check}");
        if text.len() > LONGEST {
            return Err(scan::too_deep(LONGEST));
        }
        let scan = scan::scan(&text, limits, self.catalogue.server_version)?;
        let tree = parse::tree(&text, &scan)?;
        Walk::new(self, limits, &text, &scan).check(parse::single_query(&tree)?, value)
    }
}
