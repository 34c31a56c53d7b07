const { WEEK } = require('daycount')
const { paid } = require('./shift')

/** Paid hours by name. */
function worked(shifts) {
  const sums = {}
  for (const shift of shifts) sums[shift.name] = (sums[shift.name] || 0) + paid(shift)
  return sums
}

/** Who works on no day of the week, of those named. */
function idle(names, shifts) {
  return names.filter((name) => !shifts.some((shift) => shift.name === name && WEEK.includes(shift.day)))
}

module.exports = { worked, idle }
