const { idle, worked } = require('../lib/week')
const { shift } = require('./sample')

const shifts = [shift('08:00', '12:00'), shift('08:00', '13:00', 'Bob'), shift('13:00', '15:00', 'Ada', 'Tue')]

test('adds up by name', () => {
  expect(worked(shifts)).toEqual({ Ada: 6, Bob: 5 })
})
test('nothing adds up to nothing', () => {
  expect(worked([])).toEqual({})
})
test('finds who does not work', () => {
  expect(idle(['Ada', 'Bob', 'Eve'], shifts)).toEqual(['Eve'])
})
test('a day off counts as none', () => {
  expect(idle(['Ada'], [shift('08:00', '12:00', 'Ada', 'Off')])).toEqual(['Ada'])
})
