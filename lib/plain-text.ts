/** A text on one line of a terminal. Users write names and messages: nothing in them may steer it, or look like our line. */
export function plainText(text: string): string {
  return text.replace(/[\s\p{C}]+/gu, ' ').trim()
}
