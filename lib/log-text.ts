/**
 * Characters that change how a terminal shows a line and that JSON leaves as they are:
 * - C1 controls (U+009B begins an escape sequence)
 * - line separators
 * - characters that reverse or hide text
 */
const misleading = /[\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g

/** A log line whose characters all show as they are. Inside of JSON the value stays the same. */
export function escapeMisleading(line: string): string {
  return line.replace(misleading, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
