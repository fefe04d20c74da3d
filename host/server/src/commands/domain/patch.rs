//! Two texts as a patch in the unified format, which `patch -p1` and `git apply` take.

/// Lines around a change.
const CONTEXT: usize = 3;
/// Cells of the table of common lines, at most; larger changes are shown as one.
const CELLS: usize = 4_000_000;

/// One line of a comparison.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Line<'a> {
    Same(&'a str),
    Gone(&'a str),
    New(&'a str),
}

/// The patch from one text of a file to another; nothing when they are the same. A file that is not there is `None`.
pub fn changed(path: &str, before: Option<&str>, after: Option<&str>) -> String {
    if before == after {
        return String::new();
    }
    let lines = compare(&split(before.unwrap_or_default()), &split(after.unwrap_or_default()));
    let name =
        |side: &str, text: Option<&str>| text.map_or("/dev/null".to_owned(), |_| format!("{side}/{path}"));
    let mut out = format!("--- {}\n+++ {}\n", name("a", before), name("b", after));
    hunks(&lines, &mut out);
    out
}

/// The patch that appends lines to a file; nothing when there are none.
pub fn appended(path: &str, now: Option<&str>, lines: &str) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let mut after = now.unwrap_or_default().to_owned();
    if !after.is_empty() && !after.ends_with('\n') {
        after.push('\n');
    }
    after.push_str(if after.is_empty() { lines.trim_start_matches('\n') } else { lines });
    changed(path, now, Some(&after))
}

/// Lines with their ends.
fn split(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

fn compare<'a>(before: &[&'a str], after: &[&'a str]) -> Vec<Line<'a>> {
    let head = before.iter().zip(after).take_while(|(a, b)| a == b).count();
    let most = before.len().min(after.len()) - head;
    let tail = before.iter().rev().zip(after.iter().rev()).take(most).take_while(|(a, b)| a == b).count();
    let middle = |lines: &[&'a str]| lines.get(head..lines.len() - tail).unwrap_or_default().to_vec();
    let (old, new) = (middle(before), middle(after));
    let mut lines: Vec<Line<'a>> = before.iter().take(head).map(|line| Line::Same(line)).collect();
    if old.len().saturating_mul(new.len()) > CELLS {
        lines.extend(old.iter().map(|line| Line::Gone(line)));
        lines.extend(new.iter().map(|line| Line::New(line)));
    } else {
        lines.extend(common(&old, &new));
    }
    lines.extend(before.iter().skip(before.len() - tail).map(|line| Line::Same(line)));
    lines
}

/// The longest run of common lines kept, by the table of what is left to compare at each pair of places.
fn common<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Line<'a>> {
    let width = new.len() + 1;
    let mut left = vec![0u32; (old.len() + 1) * width];
    let at = |table: &[u32], i: usize, j: usize| table.get(i * width + j).copied().unwrap_or_default();
    for (i, a) in old.iter().enumerate().rev() {
        for (j, b) in new.iter().enumerate().rev() {
            let most = if a == b {
                at(&left, i + 1, j + 1) + 1
            } else {
                at(&left, i + 1, j).max(at(&left, i, j + 1))
            };
            if let Some(cell) = left.get_mut(i * width + j) {
                *cell = most;
            }
        }
    }
    let (mut i, mut j, mut lines) = (0, 0, Vec::new());
    loop {
        match (old.get(i), new.get(j)) {
            (Some(a), Some(b)) if a == b => {
                lines.push(Line::Same(a));
                i += 1;
                j += 1;
            }
            (Some(a), other) if other.is_none() || at(&left, i + 1, j) >= at(&left, i, j + 1) => {
                lines.push(Line::Gone(a));
                i += 1;
            }
            (_, Some(b)) => {
                lines.push(Line::New(b));
                j += 1;
            }
            _ => return lines,
        }
    }
}

fn hunks(lines: &[Line<'_>], out: &mut String) {
    let is_change = |line: &Line<'_>| !matches!(line, Line::Same(_));
    let mut from = 0;
    while let Some(first) = lines.iter().skip(from).position(is_change).map(|at| at + from) {
        let mut last = first;
        for (at, line) in lines.iter().enumerate().skip(first) {
            if is_change(line) {
                last = at;
            } else if at - last > 2 * CONTEXT {
                break;
            }
        }
        let (begin, end) = (first.saturating_sub(CONTEXT), (last + CONTEXT + 1).min(lines.len()));
        let before = lines.iter().take(begin);
        let old_at = before.clone().filter(|line| !matches!(line, Line::New(_))).count();
        let new_at = before.filter(|line| !matches!(line, Line::Gone(_))).count();
        let hunk = lines.get(begin..end).unwrap_or_default();
        let old = hunk.iter().filter(|line| !matches!(line, Line::New(_))).count();
        let new = hunk.iter().filter(|line| !matches!(line, Line::Gone(_))).count();
        // A side without a line is said to stand before the first.
        let start = |at: usize, count: usize| if count == 0 { at } else { at + 1 };
        out.push_str(&format!("@@ -{},{old} +{},{new} @@\n", start(old_at, old), start(new_at, new)));
        for line in hunk {
            let (sign, text) = match line {
                Line::Same(text) => (' ', text),
                Line::Gone(text) => ('-', text),
                Line::New(text) => ('+', text),
            };
            out.push(sign);
            out.push_str(text);
            if !text.ends_with('\n') {
                out.push_str("\n\\ No newline at end of file\n");
            }
        }
        from = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_says_what_changed_and_where() {
        let long: String = (1..=20).map(|n| format!("{n}\n")).collect();
        let ends = long.replace("2\n3\n", "2\nx\n3\n").replace("20\n", "y\n");
        for (before, after, want) in [
            (Some("a\n"), Some("a\n"), ""),
            (None, Some("a\nb\n"), "--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n+a\n+b\n"),
            (Some("a\n"), None, "--- a/f\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-a\n"),
            (
                Some("a\nb\nc\n"),
                Some("a\nx\nc"),
                "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n-b\n-c\n+x\n+c\n\\ No newline at end of file\n",
            ),
            (
                Some(long.as_str()),
                Some(ends.as_str()),
                "--- a/f\n+++ b/f\n@@ -1,5 +1,6 @@\n 1\n 2\n+x\n 3\n 4\n 5\n@@ -17,4 +18,4 @@\n 17\n 18\n 19\n-20\n+y\n",
            ),
        ] {
            assert_eq!(changed("f", before, after), want, "{before:?} to {after:?}");
        }
    }

    #[test]
    fn lines_are_appended_to_what_is_there() {
        assert_eq!(appended("f", Some("a\n"), ""), "");
        assert_eq!(appended("f", None, "\nb\n"), "--- /dev/null\n+++ b/f\n@@ -0,0 +1,1 @@\n+b\n");
        assert_eq!(appended("f", Some("a\n"), "b\n"), "--- a/f\n+++ b/f\n@@ -1,1 +1,2 @@\n a\n+b\n");
    }
}
