//! Small pictures: valid PNG files of grey noise, as base64.

use super::rng::Rng;

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// A picture of 3 to 20 KB.
pub(super) fn base64_png(rng: &mut Rng) -> String {
    base64(&png(rng))
}

fn png(rng: &mut Rng) -> Vec<u8> {
    let (width, height) = (rng.between(64, 160) as u32, rng.between(40, 100) as u32);
    let mut rows = Vec::new();
    for _ in 0..height {
        // Each row begins with its filter, which is none.
        rows.extend([0]);
        let mut grey = 0;
        for at in 0..width {
            grey = if at % 8 == 0 {
                rng.below(256) as u8
            } else {
                grey.wrapping_add(3)
            };
            rows.push(grey);
        }
    }
    // One stored block: a picture is at most 16,160 bytes.
    let length = rows.len() as u16;
    let mut stream = vec![0x78, 0x01, 0x01];
    stream.extend(length.to_le_bytes());
    stream.extend((!length).to_le_bytes());
    stream.extend(&rows);
    stream.extend(adler32(&rows).to_be_bytes());
    let mut header = Vec::new();
    header.extend(width.to_be_bytes());
    header.extend(height.to_be_bytes());
    header.extend([8, 0, 0, 0, 0]);
    let mut out = b"\x89PNG\r\n\x1a\n".to_vec();
    chunk(b"IHDR", &header, &mut out);
    chunk(b"IDAT", &stream, &mut out);
    chunk(b"IEND", &[], &mut out);
    out
}

fn chunk(kind: &[u8; 4], content: &[u8], out: &mut Vec<u8>) {
    out.extend((content.len() as u32).to_be_bytes());
    let from = out.len();
    out.extend(kind);
    out.extend(content);
    let sum = crc32(&out[from..]);
    out.extend(sum.to_be_bytes());
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |sum: u32, &byte| {
        (0..8).fold(sum ^ u32::from(byte), |sum, _| {
            (sum >> 1) ^ (0xedb8_8320 & 0u32.wrapping_sub(sum & 1))
        })
    })
}

fn adler32(bytes: &[u8]) -> u32 {
    let (a, b) = bytes.iter().fold((1u32, 0u32), |(a, b), &byte| {
        let a = (a + u32::from(byte)) % 65_521;
        (a, (b + a) % 65_521)
    });
    b << 16 | a
}

fn base64(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() * 4 / 3 + 4);
    for group in bytes.chunks(3) {
        let bits = group
            .iter()
            .chain([0, 0].iter())
            .take(3)
            .fold(0u32, |bits, &byte| bits << 8 | u32::from(byte));
        for at in 0..4 {
            if at <= group.len() {
                out.push(char::from(BASE64[(bits >> (18 - 6 * at) & 63) as usize]));
            } else {
                out.push('=');
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_and_base64_follow_their_standards() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(adler32(b"Wikipedia"), 0x11e6_0398);
        assert_eq!(base64(b"Ma"), "TWE=");
        assert_eq!(base64(b"Man"), "TWFu");
        assert_eq!(base64(b"light w"), "bGlnaHQgdw==");
    }
}
