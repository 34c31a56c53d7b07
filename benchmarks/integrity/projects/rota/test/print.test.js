const { initials, plan } = require('../lib/print')
const { shift } = require('./sample')

test('prints one name', () => {
  expect(plan([shift('08:00', '12:00')])).toMatchSnapshot()
})
test('prints names in a column', () => {
  expect(plan([shift('08:00', '12:00', 'Alexandra'), shift('13:00', '15:00', 'Bob', 'Tue')])).toMatchSnapshot()
})
test('takes first letters', () => {
  expect(initials('ada lovelace')).toBe('AL')
})
