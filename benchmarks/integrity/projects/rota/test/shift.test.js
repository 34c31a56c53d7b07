const { hours, minutes, paid } = require('../lib/shift')
const { expectHours, shift } = require('./sample')

test('reads a time', () => {
  expect(minutes('22:30')).toBe(1350)
})
test('refuses what is no time', () => {
  expect(() => minutes('noon')).toThrow(TypeError)
})
test('a shift in a day', () => {
  expectHours(hours(shift('08:00', '12:30')), 4.5)
})
test('a shift over night', () => {
  expectHours(hours(shift('22:00', '06:00')), 8)
})
test('a short shift has no break', () => {
  expectHours(paid(shift('08:00', '14:00')), 6)
})
test('a long shift has a break', () => {
  expectHours(paid(shift('08:00', '16:00')), 7.5)
})
