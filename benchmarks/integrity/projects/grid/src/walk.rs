//! The shortest way.

use crate::map::Map;
use std::collections::{HashSet, VecDeque};

/// How many steps the shortest way takes; None if there is none.
pub fn steps(map: &Map, from: (usize, usize), to: (usize, usize)) -> Option<usize> {
    let mut seen = HashSet::from([from]);
    let mut waiting = VecDeque::from([(from, 0)]);
    while let Some((at, count)) = waiting.pop_front() {
        if at == to {
            return Some(count);
        }
        for next in map.beside(at.0, at.1) {
            if seen.insert(next) {
                waiting.push_back((next, count + 1));
            }
        }
    }
    None
}

/// How many squares can be reached, the first included.
pub fn reach(map: &Map, from: (usize, usize)) -> usize {
    let mut seen = HashSet::from([from]);
    let mut waiting = vec![from];
    while let Some(at) = waiting.pop() {
        waiting.extend(map.beside(at.0, at.1).into_iter().filter(|&next| seen.insert(next)));
    }
    seen.len()
}
