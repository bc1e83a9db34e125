//! What documents cost: by their pages, which is how providers charge for them.
//!
//! A provider reads a page as its text and as a picture of it. The base64 in which
//! a document travels says nothing of that.

use crate::Tokens;

/// One page of a PDF. Anthropic names 1,500 to 3,000 tokens a page by its density;
/// ten pages of plain text were measured at 21,000 to 23,900.
pub const PAGE_TOKENS: Tokens = Tokens(2_000);

/// A page in a document whose structure is packed or not a PDF's: pages of text
/// have 10 to 50 KB, scanned ones more, so that this rather counts too much.
const BYTES_A_PAGE: usize = 50_000;

/// The least bytes that a page takes, as a bound on what a document claims to have.
const LEAST_BYTES_A_PAGE: usize = 16;

/// The tokens of a document, such as a PDF, from its bytes.
pub fn document_tokens(bytes: &[u8]) -> Tokens {
    let pages = pdf_pages(bytes).unwrap_or_else(|| bytes.len().div_ceil(BYTES_A_PAGE));
    Tokens::saturating(pages.max(1).saturating_mul(PAGE_TOKENS.0 as usize))
}

/// The pages of a PDF: the count of its page tree, else its page objects. `None`
/// where the file keeps both in packed streams, or is no PDF.
pub fn pdf_pages(pdf: &[u8]) -> Option<usize> {
    let (mut objects, mut largest_count) = (0, None);
    for object in Objects(pdf) {
        match kind(object) {
            Some(Kind::Page) => objects += 1,
            // The root of the tree counts all the pages below it.
            Some(Kind::Pages) => largest_count = largest_count.max(count(object)),
            None => {}
        }
    }
    let most = pdf.len() / LEAST_BYTES_A_PAGE;
    let counted = largest_count.filter(|count| (1..=most).contains(count));
    counted.or((objects > 0).then_some(objects))
}

enum Kind {
    Page,
    Pages,
}

/// The objects of a PDF, one after the other.
struct Objects<'a>(&'a [u8]);

impl<'a> Iterator for Objects<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        const END: &[u8] = b"endobj";
        let end = find(self.0, END)?;
        let object = &self.0[..end];
        self.0 = &self.0[end + END.len()..];
        Some(object)
    }
}

fn kind(object: &[u8]) -> Option<Kind> {
    values(object, b"/Type").find_map(|value| {
        let name = value.strip_prefix(b"/Page")?;
        match name.strip_prefix(b"s") {
            Some(rest) => ends(rest).then_some(Kind::Pages),
            None => ends(name).then_some(Kind::Page),
        }
    })
}

fn count(object: &[u8]) -> Option<usize> {
    let value = values(object, b"/Count").next()?;
    let digits = value.iter().take_while(|byte| byte.is_ascii_digit());
    let digits: Vec<u8> = digits.copied().collect();
    String::from_utf8(digits).ok()?.parse().ok()
}

/// What stands behind each key of this name.
fn values<'a>(object: &'a [u8], key: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
    let mut rest = object;
    std::iter::from_fn(move || {
        let at = find(rest, key)?;
        rest = &rest[at + key.len()..];
        Some(rest.trim_ascii_start())
    })
}

/// Whether a name is over: what follows is none of its characters.
fn ends(rest: &[u8]) -> bool {
    rest.first()
        .is_none_or(|byte| !byte.is_ascii_alphanumeric())
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len())
        .position(|window| window == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pdf(objects: &[&str]) -> Vec<u8> {
        let mut text = String::from("%PDF-1.7\n");
        for (at, object) in objects.iter().enumerate() {
            text.push_str(&format!("{} 0 obj\n{object}\nendobj\n", at + 1));
        }
        text.into_bytes()
    }

    #[test]
    fn pages_are_those_of_the_root_of_the_page_tree() {
        let tree = pdf(&[
            "<< /Type /Catalog /Pages 2 0 R >>",
            "<</Type/Pages/Kids[3 0 R 4 0 R]/Count 3>>",
            "<< /Count 2 /Type /Pages /Kids [5 0 R 6 0 R] >>",
            "<< /Type /Page /Parent 2 0 R >>",
            "<< /Type /Page >>",
            "<< /Type /Page >>",
            // An old revision of the first page, and bookmarks.
            "<< /Type /Page /Parent 2 0 R >>",
            "<< /Type /Outlines /Count 40 >>",
        ]);
        assert_eq!(pdf_pages(&tree), Some(3));
        assert_eq!(document_tokens(&tree), Tokens(6_000));
    }

    #[test]
    fn without_a_usable_count_page_objects_are_counted() {
        let pages = ["<< /Type /Page >>", "<</Type/Page/Contents 9 0 R>>"];
        assert_eq!(pdf_pages(&pdf(&pages)), Some(2));
        let lying = "<< /Type /Pages /Count 999999999999 >>";
        assert_eq!(pdf_pages(&pdf(&[pages[0], lying])), Some(1));
        let endless = "<< /Type /Pages /Count 99999999999999999999999999 >>";
        assert_eq!(pdf_pages(&pdf(&[pages[0], endless])), Some(1));
    }

    #[test]
    fn where_pages_cannot_be_told_the_size_is_what_counts() {
        assert_eq!(pdf_pages(b""), None);
        assert_eq!(pdf_pages(&pdf(&["<< /Type /PageLabels >>"])), None);
        assert_eq!(document_tokens(b"tiny"), PAGE_TOKENS);
        assert_eq!(document_tokens(&vec![0; 120_000]), Tokens(6_000));
    }
}
