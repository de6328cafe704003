/** A text as code; nothing for an absent text. */
export function code(text: string | undefined): string {
  return text === undefined ? '' : `\`${text}\``
}

/** A table in Markdown, with the bars in its cells escaped. */
export function markdownTable(head: string[], rows: string[][]): string {
  const lines = [head, head.map(() => '---'), ...rows]
  return lines.map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`).join('\n')
}
