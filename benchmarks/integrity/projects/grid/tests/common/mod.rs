use grid::map::Map;
use grid::walk::steps;

pub fn maze() -> Map {
    Map::parse(include_str!("../maze.txt")).unwrap()
}

pub fn field() -> Map {
    Map::parse(include_str!("../field.txt")).unwrap()
}

pub fn check_steps(map: &Map, to: (usize, usize), wanted: Option<usize>) {
    assert_eq!(steps(map, (0, 0), to), wanted);
}
