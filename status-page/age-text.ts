const units = [
  { name: 'd', ms: 86_400_000 },
  { name: 'h', ms: 3_600_000 },
  { name: 'min', ms: 60_000 },
]

/**
 * How far a time is, from now: negative is the past. In one unit, as kubectl does, and never in seconds: a page that is
 * sent when it changes must not change all the time.
 */
export function ageText(ms: number): string {
  const size = Math.abs(ms)
  // Two of a unit at least, so that 90 minutes are not "1 h".
  const unit = units.find((one) => size >= 2 * one.ms) ?? units.at(-1)
  const count = Math.floor(size / (unit?.ms ?? 1))
  if (count === 0) return 'just now'
  const text = `${count} ${unit?.name}`
  return ms < 0 ? `${text} ago` : `in ${text}`
}
