/** A plan as text, one shift a line, the names in a column as wide as the longest. */
function plan(shifts) {
  return shifts.map((shift) => `${shift.day} ${shift.name} ${shift.from} to ${shift.to}`).join('\n')
}

/** The first letters of a name, in capitals. */
function initials(name) {
  return name.split(' ').map((part) => part[0].toUpperCase()).join('')
}

module.exports = { plan, initials }
