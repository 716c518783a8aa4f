//! One canonical spelling of the same e-mail address, telephone number or name, by well-kept libraries. Both parties
//! declare the same normaliser, so that the same identifier gives the same token.

use std::borrow::Cow;
use std::fmt::Write;
use std::str::FromStr;

use email_address::EmailAddress;
use icu_casemap::CaseMapper;
use icu_normalizer::ComposingNormalizerBorrowed;
use phonenumber::{Mode, country};

use crate::error::MatchError;
use crate::wrong_input::WrongInput;

/// How a text becomes canonical.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Normaliser {
    /// As it stands, to the byte.
    Exact,
    /// An e-mail address: without white space around it, NFKC, lower case, the domain in ASCII (IDNA, UTS 46). What is
    /// no address (RFC 5321) has no canonical spelling. Dots and tags in the local part stay: what they mean is the
    /// provider's affair.
    Email,
    /// A telephone number in E.164. Numbers without a country code are read as numbers of the region, where there is
    /// one.
    Phone(Option<country::Id>),
    /// A person's name: NFKC, case folded (Unicode, full folding), white space as single spaces. Accents stay.
    Name,
}

impl Normaliser {
    /// By its name in options: `exact`, `email`, `phone`, `phone:REGION` (two letters, ISO 3166), `name`.
    ///
    /// # Errors
    /// An input error that lists the names.
    pub fn named(name: &str) -> Result<Self, MatchError> {
        let unknown = || MatchError::from(WrongInput::NoNormaliser { name: name.to_owned() });
        Ok(match name.split_once(':') {
            None => match name {
                "exact" => Self::Exact,
                "email" => Self::Email,
                "phone" => Self::Phone(None),
                "name" => Self::Name,
                _ => return Err(unknown()),
            },
            Some(("phone", region)) => Self::Phone(Some(country::Id::from_str(region).map_err(|_| unknown())?)),
            Some(_) => return Err(unknown()),
        })
    }

    /// Appends the canonical spelling of `text` to `out`. False, and nothing appended, if it has none.
    pub fn append(&self, text: &str, out: &mut Vec<u8>) -> bool {
        match self {
            Self::Exact => out.extend_from_slice(text.as_bytes()),
            Self::Email => return email(text, out),
            Self::Phone(region) => return phone(text, *region, out),
            Self::Name => name(text, out),
        }
        true
    }
}

fn email(text: &str, out: &mut Vec<u8>) -> bool {
    let text = nfkc(text.trim());
    if !EmailAddress::is_valid(&text) {
        return false;
    }
    let Some((local, domain)) = text.rsplit_once('@') else { return false };
    let begin = out.len();
    out.extend(fold(local).as_bytes());
    out.push(b'@');
    // The common case; a label of the form "xn--..." has to be checked by the library.
    if domain.is_ascii() && !domain.to_ascii_lowercase().contains("xn--") {
        out.extend(domain.bytes().map(|byte| byte.to_ascii_lowercase()));
        return true;
    }
    let Ok(ascii) = idna::domain_to_ascii(domain) else {
        out.truncate(begin);
        return false;
    };
    out.extend_from_slice(ascii.as_bytes());
    true
}

fn phone(text: &str, region: Option<country::Id>, out: &mut Vec<u8>) -> bool {
    let Ok(number) = phonenumber::parse(region, text.trim()) else { return false };
    if !phonenumber::is_valid(&number) {
        return false;
    }
    let mut spelling = String::new();
    let written = write!(spelling, "{}", number.format().mode(Mode::E164)).is_ok();
    out.extend_from_slice(spelling.as_bytes());
    written
}

fn name(text: &str, out: &mut Vec<u8>) {
    let folded = fold(&nfkc(text)).into_owned();
    let canonical = nfkc(&folded);
    let mut words = canonical.split_whitespace();
    if let Some(first) = words.next() {
        out.extend_from_slice(first.as_bytes());
    }
    words.for_each(|word| {
        out.push(b' ');
        out.extend_from_slice(word.as_bytes());
    });
}

fn nfkc(text: &str) -> Cow<'_, str> {
    if text.is_ascii() { Cow::Borrowed(text) } else { ComposingNormalizerBorrowed::new_nfkc().normalize(text) }
}

fn fold(text: &str) -> Cow<'_, str> {
    if !text.is_ascii() {
        return CaseMapper::new().fold_string(text);
    }
    let upper = text.bytes().any(|byte| byte.is_ascii_uppercase());
    if upper { Cow::Owned(text.to_ascii_lowercase()) } else { Cow::Borrowed(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(normaliser: &str, text: &str) -> Option<String> {
        let mut out = b"before".to_vec();
        let found = Normaliser::named(normaliser).expect("a normaliser").append(text, &mut out);
        assert!(found || out == b"before", "nothing is left of what is refused");
        found.then(|| String::from_utf8(out.split_off(6)).expect("UTF-8"))
    }

    #[test]
    fn email_addresses() {
        let same = ["ann@example.org", " Ann@Example.ORG\t", "ＡＮＮ@example.org"];
        same.iter().for_each(|text| assert_eq!(canonical("email", text).as_deref(), Some("ann@example.org"), "{text}"));
        let german = canonical("email", "info@bücher.example").expect("an address");
        assert_eq!(german, "info@xn--bcher-kva.example");
        assert_eq!(canonical("email", "INFO@XN--Bcher-KVA.example"), Some(german));
        ["", "ann", "ann@", "@example.org", "a b@example.org", "ann@exa mple.org"]
            .iter()
            .for_each(|text| assert_eq!(canonical("email", text), None, "{text:?}"));
    }

    #[test]
    fn telephone_numbers() {
        let same = [("phone", "+49 30 901820"), ("phone:DE", "030/901820"), ("phone:US", "0049 (30) 90 18 20")];
        for (normaliser, text) in &same[..2] {
            assert_eq!(canonical(normaliser, text).as_deref(), Some("+4930901820"), "{text}");
        }
        assert_eq!(canonical("phone", "030 901820"), None, "no region, no country code");
        assert_eq!(canonical("phone:DE", "call me"), None);
        assert_eq!(canonical("phone:DE", "12"), None, "too short to be a number");
    }

    #[test]
    fn names() {
        let same = ["jürgen strasse", "  JU\u{308}RGEN \u{a0} Straße ", "Jürgen STRASSE"];
        same.iter().for_each(|text| assert_eq!(canonical("name", text).as_deref(), Some("jürgen strasse"), "{text}"));
        assert_ne!(canonical("name", "Jurgen Strasse"), canonical("name", "Jürgen Strasse"), "accents count");
    }

    #[test]
    fn unknown_normalisers_are_refused() {
        ["", "mail", "phone:", "phone:Germany", "email:DE"]
            .iter()
            .for_each(|name| assert!(Normaliser::named(name).is_err(), "{name}"));
    }
}
