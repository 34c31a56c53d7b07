use grid::map::Map;

fn maze() -> Map {
    Map::parse(include_str!("maze.txt")).unwrap()
}

#[test]
fn beside_the_corner() {
    assert_eq!(maze().beside(0, 0), [(0, 1), (1, 0)]);
}
#[test]
fn beside_in_the_middle() {
    assert_eq!(maze().beside(3, 2), [(2, 2), (3, 1), (3, 3)]);
}
#[test]
fn shows_what_was_read() {
    assert_eq!(maze().to_string(), include_str!("maze.txt"));
}
