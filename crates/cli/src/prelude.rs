//! What every command has at hand.

pub(crate) use serde_json::{Value, json};

pub(crate) use crate::app::App;
pub(crate) use crate::failure::{Failure, Result};
pub(crate) use crate::style::style;
pub(crate) use crate::table::{Table, left, right};
pub(crate) use crate::{answer, out, paint, resolve};
