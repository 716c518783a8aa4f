//! The tables of a run's steps at one node: in memory, and beyond a budget in encrypted files until a step takes them.
//!
//! Columns go to files, the largest first: one that several tables have is in memory once, and in one file. What goes
//! depends on sizes and on ids of steps alone, which all nodes know.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use tacit_mpc::backends::Components;
use tacit_mpc::{Backend, Block, Rows, Shape};
use tacit_sealed::scratch::{Pages, Sheet, Writer};
use tacit_sealed::{Scratch, SealedError};

use crate::bundle::{Layout, bundle_taken};
use crate::error::{Result, TableError};
use crate::table::{Column, Order, Table, Value};
use crate::wrong_input::WrongInput;

/// Where columns go that do not fit, and how an engine's shares become bytes and shares again.
pub struct Spill<B: Backend> {
    scratch: Scratch,
    take_apart: fn(Rows<B>) -> Vec<Block>,
    put_together: fn(Vec<Block>) -> Rows<B>,
}

impl<B: Components> Spill<B> {
    /// Into this folder's files without a name.
    ///
    /// # Errors
    /// [`TableError::Internal`] without randomness.
    pub fn new(scratch: Scratch) -> Self {
        Self { scratch, take_apart: B::take_apart, put_together: B::put_together }
    }
}

/// The tables of steps by the steps' ids.
pub struct Tables<B: Backend> {
    steps: BTreeMap<usize, Listed<B>>,
    columns: BTreeMap<usize, Lying<B>>,
    next: usize,
    components: usize,
}

/// A table of which the columns lie elsewhere.
struct Listed<B: Backend> {
    rows: usize,
    valid: Option<B::Bits>,
    columns: Vec<(String, usize)>,
    order: Order,
}

/// A column, wherever it lies. filed: its file, where it has come back from one. Columns never change, so that it need
/// not be written again.
enum Lying<B: Backend> {
    Here { bytes: u64, value: Arc<Value<B>>, filed: Option<Away> },
    Away(Away),
}

/// A column in a file.
struct Away {
    sheet: Sheet,
    layout: Layout,
    shape: Shape,
    components: usize,
}

impl<B: Backend> Tables<B> {
    /// No tables. components: how many a node has of each value.
    pub fn new(components: usize) -> Self {
        Self { steps: BTreeMap::new(), columns: BTreeMap::new(), next: 0, components }
    }

    /// Takes in the table of a step.
    pub fn insert(&mut self, step: usize, table: Table<B>) {
        let Table { rows, valid, columns, order } = table;
        let columns = columns.into_iter().map(|column| (column.name, self.place(rows, column.value))).collect();
        self.steps.insert(step, Listed { rows, valid, columns, order });
    }

    /// Where a column lies, which is once.
    fn place(&mut self, rows: usize, value: Arc<Value<B>>) -> usize {
        let same = |lying: &Lying<B>| matches!(lying, Lying::Here { value: known, .. } if Arc::ptr_eq(known, &value));
        if let Some((&place, _)) = self.columns.iter().find(|(_, lying)| same(lying)) {
            return place;
        }
        let bytes = value.shape(rows).bytes() * self.components as u64;
        self.next += 1;
        self.columns.insert(self.next, Lying::Here { bytes, value, filed: None });
        self.next
    }

    /// The table of a step, with the columns that lie in memory.
    ///
    /// # Errors
    /// [`TableError::Internal`] when a column lies in a file: [`Self::bring`] was not called.
    pub fn get(&self, step: usize) -> Result<Option<Table<B>>> {
        let Some(Listed { rows, valid, columns, order }) = self.steps.get(&step) else { return Ok(None) };
        let column = |(name, place): &(String, usize)| match self.columns.get(place) {
            Some(Lying::Here { value, .. }) => Ok(Column { name: name.clone(), value: Arc::clone(value) }),
            _ => Err(TableError::Internal(format!("the column {name:?} of step {step} is not in memory"))),
        };
        let columns = columns.iter().map(column).collect::<Result<_>>()?;
        Ok(Some(Table { rows: *rows, valid: valid.clone(), columns, order: order.clone() }))
    }

    /// Forgets the tables of the steps that are not needed, and what of columns and files is theirs alone.
    pub fn retain(&mut self, needed: impl Fn(usize) -> bool) {
        self.steps.retain(|&step, _| needed(step));
        let used = self.used(|_| true);
        self.columns.retain(|place, _| used.contains_key(place));
    }

    /// The places of the columns of some steps.
    fn used(&self, of: impl Fn(usize) -> bool) -> HashMap<usize, ()> {
        let steps = self.steps.iter().filter(|(step, _)| of(**step));
        steps.flat_map(|(_, listed)| listed.columns.iter().map(|(_, place)| (*place, ()))).collect()
    }

    /// What the columns in memory take that are not of these steps, in bytes.
    fn beside(&self, inputs: &[usize]) -> Vec<(usize, u64)> {
        let used = self.used(|step| inputs.contains(&step));
        let here = |(place, lying): (&usize, &Lying<B>)| match lying {
            Lying::Here { bytes, .. } if !used.contains_key(place) => Some((*place, *bytes)),
            _ => None,
        };
        self.columns.iter().filter_map(here).collect()
    }

    /// Has other columns than those of a step's inputs go to files, the largest first, until the rest is within the
    /// room that the step leaves. Returns the bytes that went.
    ///
    /// # Errors
    /// [`TableError::Input`] when a file cannot be written.
    pub fn make_room(&mut self, spill: &Spill<B>, inputs: &[usize], room: u64) -> Result<u64> {
        let mut beside = self.beside(inputs);
        beside.sort_by_key(|&(place, bytes)| (std::cmp::Reverse(bytes), place));
        let (mut left, mut gone): (u64, u64) = (beside.iter().map(|(_, bytes)| bytes).sum(), 0);
        for (place, bytes) in beside {
            if left <= room {
                break;
            }
            self.send_away(spill, place)?;
            (left, gone) = (left - bytes, gone + bytes);
        }
        Ok(gone)
    }

    fn send_away(&mut self, spill: &Spill<B>, place: usize) -> Result<()> {
        let Some(Lying::Here { value, filed, .. }) = self.columns.remove(&place) else { return Ok(()) };
        if let Some(away) = filed {
            self.columns.insert(place, Lying::Away(away));
            return Ok(());
        }
        let rows = value.rows();
        let shape = value.shape(rows);
        let (rows, layout) = bundle_taken(rows, [value]);
        let components = (spill.take_apart)(rows);
        let write = |file: &mut Writer| components.iter().flat_map(Block::bytes).try_for_each(|bytes| file.push(bytes));
        let sheet = spill.scratch.file(write).map_err(unwritten)?;
        let away = Away { sheet, layout, shape, components: components.len() };
        self.columns.insert(place, Lying::Away(away));
        Ok(())
    }

    /// Brings the columns of these steps back to memory.
    ///
    /// # Errors
    /// [`TableError::Internal`] when a file is not as it was written.
    pub fn bring(&mut self, spill: &Spill<B>, inputs: &[usize]) -> Result<()> {
        let mut places: Vec<usize> = self.used(|step| inputs.contains(&step)).into_keys().collect();
        places.sort_unstable();
        for place in places {
            if let Some(Lying::Away(away)) = self.columns.get_mut(&place) {
                let bytes = away.shape.bytes() * away.components as u64;
                let value = Arc::new(away.back(spill)?);
                let Some(Lying::Away(away)) = self.columns.remove(&place) else { continue };
                self.columns.insert(place, Lying::Here { bytes, value, filed: Some(away) });
            }
        }
        Ok(())
    }

    /// What all columns in memory take, in bytes.
    pub fn bytes(&self) -> u64 {
        self.beside(&[]).iter().map(|(_, bytes)| bytes).sum()
    }

    /// How many columns lie in files.
    pub fn away(&self) -> usize {
        self.columns.values().filter(|lying| matches!(lying, Lying::Away(_))).count()
    }
}

impl Away {
    fn back<B: Backend>(&mut self, spill: &Spill<B>) -> Result<Value<B>> {
        let mut components = vec![Block::zeros(self.shape); self.components];
        let fill = |pages: &mut Pages<'_>, bytes: &mut [u8]| {
            pages.fill(bytes)?;
            // A share that was on the disk is as secret as before.
            tacit_marks::secret(bytes);
            Ok::<(), SealedError>(())
        };
        let read = |pages: &mut Pages<'_>| {
            components.iter_mut().try_for_each(|component| component.fill_bytes(|bytes| fill(pages, bytes)))
        };
        self.sheet.read(read).map_err(unread)?;
        let (mut values, _) = self.layout.unbundle((spill.put_together)(components));
        values.pop().ok_or_else(|| TableError::Internal("a column got lost in its file".into()))
    }
}

/// The error of a file that cannot be written.
fn unwritten(error: SealedError) -> TableError {
    match error {
        SealedError::Unwritten { path, reason } => WrongInput::Spill { folder: path, reason }.into(),
        error => TableError::Internal(error.to_string()),
    }
}

/// The error of a file that cannot be read: nobody but the machine has had it.
fn unread(error: SealedError) -> TableError {
    TableError::Internal(format!("a table beyond the memory budget got lost on this machine's disk: {error}"))
}

#[cfg(test)]
mod tests;
