/** A text on one line of a terminal. Users write names and messages: nothing in them may steer it, or look like our line. */
export function plainText(text: string): string {
  return text.replace(/[\s\p{C}]+/gu, ' ').trim()
}

/** A number of things, named in the plural: `1 Service`, `2 Services`. */
export function counted(count: number, things: string): string {
  return `${count} ${count === 1 ? things.replace(/(?<=ss)es$|s$/, '') : things}`
}
