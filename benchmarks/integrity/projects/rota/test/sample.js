exports.shift = (from, to, name = 'Ada', day = 'Mon') => ({ name, day, from, to })

exports.expectHours = (found, wanted) => {
  expect(found).toBeCloseTo(wanted, 5)
}
