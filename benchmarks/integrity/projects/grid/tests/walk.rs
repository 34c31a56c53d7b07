mod common;

use common::{check_steps, field, maze};
use grid::walk::reach;

#[test]
fn no_step() {
    check_steps(&maze(), (0, 0), Some(0));
}
#[test]
fn straight_on() {
    check_steps(&maze(), (3, 0), Some(3));
}
#[test]
fn around_the_wall() {
    check_steps(&maze(), (4, 4), Some(8));
}
#[test]
fn across_a_field() {
    check_steps(&field(), (0, 3), Some(3));
}
#[test]
fn no_way() {
    check_steps(&maze(), (4, 0), None);
}
#[test]
fn reaches_all_that_is_free() {
    assert_eq!(reach(&maze(), (0, 0)), 15);
}
