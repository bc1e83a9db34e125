//! An archive as a file: its bytes, packed or not, and never more than a file of
//! its size may hold.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use longhaul_files::Identity;

use super::Packing;
use crate::error::{Error, Result};

const BUFFER: usize = 256 * 1024;
const LEVEL: i32 = 3;

/// An archive that is there. It is opened anew for every pass, and must be the
/// same file each time.
pub(super) struct PackedArchive {
    pub(super) path: PathBuf,
    packing: Packing,
    identity: Identity,
    size: u64,
}

impl PackedArchive {
    /// The archive of that name, if there is one.
    pub(super) fn find(path: &Path, packing: Packing) -> Result<Option<PackedArchive>> {
        let Some(file) = longhaul_files::optional(longhaul_files::open(path))? else {
            return Ok(None);
        };
        let meta = file.metadata().map_err(Error::io("read", path))?;
        Ok(Some(PackedArchive {
            path: path.to_owned(),
            packing,
            identity: Identity::of(&meta),
            size: meta.len(),
        }))
    }

    /// The file as it is stored.
    pub(super) fn stored(&self) -> Result<File> {
        let file = longhaul_files::open(&self.path)?;
        let meta = file.metadata().map_err(Error::io("read", &self.path))?;
        match Identity::of(&meta) == self.identity && meta.len() == self.size {
            true => Ok(file),
            false => Err(Error::Changed {
                path: self.path.clone(),
            }),
        }
    }

    /// The entries in it.
    pub(super) fn reader(&self) -> Result<Box<dyn Read>> {
        let file = BufReader::with_capacity(BUFFER, self.stored()?);
        Ok(match self.packing {
            Packing::Plain => Box::new(file),
            Packing::Zstd => {
                let unpacked = longhaul_files::unpacked(file, self.size);
                Box::new(unpacked.map_err(Error::io("unpack", &self.path))?)
            }
        })
    }
}

/// Writes an archive: what is in the old one as it is, and what is added to it.
pub(super) fn write(
    out: &mut dyn Write,
    old: Option<File>,
    packing: Packing,
    add: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    if let Some(mut old) = old {
        io::copy(&mut old, out)?;
    }
    match packing {
        Packing::Plain => add(out),
        Packing::Zstd => {
            let mut encoder = zstd::Encoder::new(out, LEVEL)?;
            add(&mut encoder)?;
            encoder.finish().map(drop)
        }
    }
}
