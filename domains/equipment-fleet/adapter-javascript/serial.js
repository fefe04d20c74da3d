// Serials in running text: found in any spelling, turned into the one governed key.

// Serials of one text; nobody asks about more machines at once.
const SERIALS = 16;
// Digits of a key.
const DIGITS = 5;

// Letters and digits: the engine a component runs on has no tables of Unicode, so by blocks, without those of marks and symbols.
const WORD =
  "[0-9A-Za-z_\\u00aa\\u00b5\\u00ba\\u00c0-\\u1fff\\u2102\\u2107\\u210a-\\u2115\\u2119-\\u211d\\u2124\\u2126\\u2128\\u212a-\\u2139\\u2160-\\u2188\\u2c00-\\u2fef\\u3040-\\ud7ff\\uf900-\\ufdff\\ufe70-\\ufefe\\uff10-\\uffdc\\u{10000}-\\u{1efff}\\u{20000}-\\u{3ffff}]";
const MARK = "[\\s\\-:.#/\\u2010\\u2011\\u2013]";
// Without the `i` flag, which would take letters of other alphabets for these.
const either = (word) => word.replace(/[a-z]/g, (c) => `[${c}${c.toUpperCase()}]`).replace(/\./g, "\\.");
const words = (...list) => `(?:${list.map(either).join("|")})`;

// A word that announces a serial, a few marks, digits, and the letter of the plate's issue, if one stands there.
const SERIAL = new RegExp(
  `(?<!${WORD})(?:${either("serial")}(?:${MARK}+${words("number", "num", "no", "nr")})?(?=${MARK})|${words("s.n.", "s/n", "sn", "mk")})` +
    `${MARK}{0,4}(?<digits>[0-9]+)(?:[\\-/\\u2010\\u2011\\u2013]?[a-zA-Z](?!${WORD})|(?!${WORD}))`,
  "gu",
);

/** All serials of a text, in its order: what was written, and the governed key. */
export function find(text) {
  const found = [];
  for (const match of text.matchAll(SERIAL)) {
    const digits = match.groups.digits.replace(/^0+/, "");
    if (digits.length > 0 && digits.length <= DIGITS) {
      found.push({ matched: match[0], key: `MK-${digits.padStart(DIGITS, "0")}` });
    }
    if (found.length === SERIALS) break;
  }
  return found;
}
