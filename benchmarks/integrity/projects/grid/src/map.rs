//! A map as text: `#` is a wall, `.` is free.

use std::fmt;

#[derive(Clone, Debug, PartialEq)]
pub struct Map {
    rows: Vec<Vec<bool>>,
}

impl Map {
    /// Reads a map; all rows are of one width.
    pub fn parse(text: &str) -> Result<Map, String> {
        let mut rows: Vec<Vec<bool>> = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let row = line.chars().map(square).collect::<Result<Vec<bool>, String>>()?;
            if rows.first().is_some_and(|first| first.len() != row.len()) {
                return Err(format!("row {} has {} squares", number + 1, row.len()));
            }
            rows.push(row);
        }
        Ok(Map { rows })
    }

    pub fn is_free(&self, x: usize, y: usize) -> bool {
        self.rows.get(y).and_then(|row| row.get(x)).copied().unwrap_or(false)
    }

    /// The free squares beside one, never diagonally.
    pub fn beside(&self, x: usize, y: usize) -> Vec<(usize, usize)> {
        let mut found = vec![(x + 1, y), (x, y + 1)];
        found.extend(x.checked_sub(1).map(|left| (left, y)));
        found.extend(y.checked_sub(1).map(|up| (x, up)));
        found.retain(|&(x, y)| self.is_free(x, y));
        found.sort_unstable();
        found
    }
}

fn square(letter: char) -> Result<bool, String> {
    match letter {
        '.' => Ok(true),
        '#' => Ok(false),
        other => Err(format!("no square: {other}")),
    }
}

impl fmt::Display for Map {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        for row in &self.rows {
            let line: String = row.iter().map(|&free| if free { '.' } else { '#' }).collect();
            writeln!(out, "{line}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_other_letters() {
        assert_eq!(Map::parse(".x"), Err("no square: x".to_string()));
    }
    #[test]
    fn refuses_rows_of_two_widths() {
        assert_eq!(Map::parse("..\n."), Err("row 2 has 1 squares".to_string()));
    }
    #[test]
    fn outside_is_not_free() {
        assert!(!Map::parse(".").unwrap().is_free(1, 0));
    }
}
