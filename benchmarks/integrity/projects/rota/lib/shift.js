/** Minutes since midnight of '22:30'. */
function minutes(time) {
  const found = /^(\d\d?):(\d\d)$/.exec(time)
  if (!found) throw new TypeError(`not a time: ${time}`)
  return Number(found[1]) * 60 + Number(found[2])
}

/** Hours from one time to the next; a shift may end on the next day. */
function hours(shift) {
  return (minutes(shift.to) - minutes(shift.from)) / 60
}

/** Hours that are paid: half an hour of a shift of more than six is a break. */
function paid(shift) {
  const all = hours(shift)
  return all > 9 ? all - 0.5 : all
}

module.exports = { minutes, hours, paid }
