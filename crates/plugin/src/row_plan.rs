//! Which of the rows that run can stay where they are when others are wanted: decided from their names alone.

use std::collections::HashMap;

use crate::registry::Configured;
use crate::rows::RowChanges;

/// How rows become others.
pub(crate) struct Plan {
    /// For each wanted row from the first on, the place of the running one that becomes it, in ascending order. It ends
    /// where a row is to be mounted that was not there: that one and all behind it are mounted anew.
    pub(crate) stays: Vec<usize>,
    /// What is told of it.
    pub(crate) changes: RowChanges,
}

/// By id, or else by name and which of that name it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Key<'r> {
    Id(&'r str),
    Name(&'static str, usize),
}

pub(crate) fn plan(running: &[&Configured], wanted: &[Configured]) -> Plan {
    let known = keys(running.iter().copied());
    let asked = keys(wanted.iter());
    let mut stays = Vec::new();
    let mut from = 0;
    for key in &asked {
        let Some(found) =
            known[from..].iter().position(|known| known == key).map(|at| from + at).or_else(|| {
                // Another plugin where one was that nobody asks for any more.
                let free = running.get(from).is_some() && !asked.contains(&known[from]);
                (free && !known.contains(key)).then_some(from)
            })
        else {
            break;
        };
        stays.push(found);
        from = found + 1;
    }
    let changes = changes(running, wanted, &known, &asked, &stays);
    Plan { stays, changes }
}

fn changes(
    running: &[&Configured],
    wanted: &[Configured],
    known: &[Key<'_>],
    asked: &[Key<'_>],
    stays: &[usize],
) -> RowChanges {
    let mut changes = RowChanges::default();
    for (index, row) in wanted.iter().enumerate() {
        let name = row.row_name().to_owned();
        match stays.get(index) {
            Some(old) if running[*old].same_as(row) => {}
            _ if known.contains(&asked[index]) => changes.restarted.push(name),
            _ => changes.added.push(name),
        }
    }
    let gone = running.iter().zip(known).filter(|(_, key)| !asked.contains(key));
    changes.removed = gone.map(|(row, _)| row.row_name().to_owned()).collect();
    changes
}

fn keys<'r>(rows: impl Iterator<Item = &'r Configured>) -> Vec<Key<'r>> {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    rows.map(|row| match row.identity() {
        (_, Some(id)) => Key::Id(id),
        (name, None) => {
            let count = seen.entry(name).or_default();
            *count += 1;
            Key::Name(name, *count)
        }
    })
    .collect()
}
