/** The texts of the whole numbers in a range that includes both ends, as a part of a regular expression. */
export function wholeNumbers(from: number, to: number): string {
  const lengths = range(String(from).length, String(to).length)
  const parts = lengths.map((length) => {
    const lowest = length === 1 ? 0 : 10 ** (length - 1)
    return ofOneLength(String(Math.max(from, lowest)), String(Math.min(to, 10 ** length - 1)))
  })
  return `0*(${parts.join('|')})`
}

/** The same for two numbers of equally many digits. */
function ofOneLength(from: string, to: string): string {
  if (from.length === 1) return digits(from, to)
  const [a, low] = [from.charAt(0), from.slice(1)]
  const [b, high] = [to.charAt(0), to.slice(1)]
  if (a === b) return `${a}${ofOneLength(low, high)}`
  const [zeros, nines] = ['0'.repeat(low.length), '9'.repeat(low.length)]
  const first = Number(a) + (low === zeros ? 0 : 1)
  const last = Number(b) - (high === nines ? 0 : 1)
  const parts = [
    ...(low === zeros ? [] : [`${a}${ofOneLength(low, nines)}`]),
    ...(first <= last ? [`${digits(String(first), String(last))}${anyDigits(low.length)}`] : []),
    ...(high === nines ? [] : [`${b}${ofOneLength(zeros, high)}`]),
  ]
  return `(${parts.join('|')})`
}

function anyDigits(count: number): string {
  return count === 1 ? '[0-9]' : `[0-9]{${count}}`
}

function digits(from: string, to: string): string {
  return from === to ? from : `[${from}-${to}]`
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, n) => from + n)
}
