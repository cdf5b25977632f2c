//! The layer under all formats of text: headings, comments, quotes and trailing separators.

use super::{LineParser, Row};

/// Lines without a number before the first row that are taken for its heading: a title, the names
/// of the columns and their units.
const HEADING_LINES_MAX: u32 = 3;

/// Parses the lines of a file of text, whatever program wrote them.
pub(crate) struct TextParser {
    parse: LineParser,
    heading_lines: u32,
    /// Whether the format has made something of a line.
    has_understood: bool,
    /// The line without its quotes.
    bare: Vec<u8>,
}

impl TextParser {
    /// A layer over the parser of a format, which sees neither comments nor quotes.
    pub(super) fn new(parse: LineParser) -> TextParser {
        TextParser { parse, heading_lines: 0, has_understood: false, bare: Vec::new() }
    }

    /// Returns the content of a line; the error is the expected content.
    #[inline]
    pub(crate) fn parse(&mut self, line: &[u8]) -> Result<Row, &'static str> {
        match line.trim_ascii_start().first() {
            None | Some(b'#') => return Ok(Row::Other),
            Some(_) => {}
        }
        let row = if line.contains(&b'"') {
            unquote(line, &mut self.bare);
            (self.parse)(&self.bare)
        } else {
            (self.parse)(line)
        };
        match row {
            Ok(row) => {
                self.has_understood = true;
                Ok(row)
            }
            Err(expected) => self.parse_again(line).ok_or(expected),
        }
    }

    /// Returns the content of the line if it is a heading, or without its trailing separators.
    #[cold]
    fn parse_again(&mut self, line: &[u8]) -> Option<Row> {
        if !self.has_understood && self.heading_lines < HEADING_LINES_MAX && is_heading(line) {
            self.heading_lines += 1;
            return Some(Row::Other);
        }
        let bare = if line.contains(&b'"') { &self.bare } else { line };
        let stripped = without_trailing_separators(bare);
        if stripped.len() == bare.len() {
            return None;
        }
        let row = (self.parse)(stripped).ok()?;
        self.has_understood = true;
        Some(row)
    }
}

/// Whether no field begins with a digit, of which a row has some.
pub(super) fn is_heading(line: &[u8]) -> bool {
    let fields = line.split(|byte| b",;\" \t".contains(byte));
    fields.filter_map(<[u8]>::first).all(|first| !first.is_ascii_digit())
}

fn without_trailing_separators(line: &[u8]) -> &[u8] {
    let last = line.iter().rposition(|byte| !b",; \t".contains(byte));
    &line[..last.map_or(0, |at| at + 1)]
}

/// The separator of a line: a comma, else a semicolon, a tab or a blank.
pub(super) fn separator(line: &[u8]) -> u8 {
    let mut is_quoted = false;
    let mut found = None;
    for &byte in line {
        is_quoted ^= byte == b'"';
        let rank = if is_quoted { None } else { b" \t;,".iter().position(|&known| known == byte) };
        found = found.max(rank);
    }
    found.map_or(0, |rank| b" \t;,"[rank])
}

/// Writes a line without the quotes of RFC 4180 around its fields; a separator inside of them
/// becomes an underscore, so that a field stays one.
fn unquote(line: &[u8], bare: &mut Vec<u8>) {
    let separator = separator(line);
    bare.clear();
    let mut is_quoted = false;
    let mut bytes = line.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        let begins = match bare.iter().rfind(|byte| **byte != b' ' || separator == b' ') {
            Some(&before) => before == separator,
            None => true,
        };
        match byte {
            b'"' if is_quoted && bytes.peek() == Some(&b'"') => {
                bytes.next();
                bare.push(b'"');
            }
            b'"' if is_quoted => is_quoted = false,
            b'"' if begins => is_quoted = true,
            _ if is_quoted && byte == separator => bare.push(b'_'),
            _ => bare.push(byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{separator, unquote};

    fn bare(line: &str) -> String {
        let mut bare = Vec::new();
        unquote(line.as_bytes(), &mut bare);
        String::from_utf8(bare).expect("text")
    }

    #[test]
    fn quotes_are_those_of_rfc_4180() {
        assert_eq!(bare(r#""1","a,b", "c ""d""","#), r#"1,a_b, c "d","#);
        assert_eq!(bare(r#""8,16" "x y" 5"#), "8,16 x_y 5");
        assert_eq!(bare(r#""1 0 8 8 1""#), "1 0 8 8 1");
        // Not at the beginning of a field, and so of the field.
        assert_eq!(bare(r#"1 ["x"] 5"#), r#"1 ["x"] 5"#);
        assert_eq!(separator(b"\"a,b\"\tc d"), b'\t');
    }
}
