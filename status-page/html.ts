import { escapeMisleading } from '../lib/text.ts'

/** A text that is already HTML: only `html` makes it, and escapes everything else. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Part = Html | Part[] | string | number | undefined

/** Builds HTML from values. Each is escaped unless it is already HTML; a list is joined, and undefined is left out. */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Html {
  return new Html(strings.map((text, n) => text + partText(parts[n])).join(''))
}

function partText(part: Part): string {
  if (part === undefined) return ''
  if (part instanceof Html) return part.text
  return Array.isArray(part) ? part.map(partText).join('') : escapeHtml(String(part))
}

/** Values that need no escaping: most of them, and the page may have thousands. */
const plain = /^[\w .,:/-]*$/

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/**
 * Escapes a text for an element or a quoted attribute. Users choose names and messages, so misleading characters are
 * shown as their codes.
 */
export function escapeHtml(text: string): string {
  if (plain.test(text)) return text
  // Replaces characters that HTML forbids even as entities, and those that reverse or hide text.
  return escapeMisleading(text.replace(controls, '\u{fffd}')).replace(
    /[&<>"']/g,
    (character) => entities[character] ?? '',
  )
}

// oxlint-disable-next-line no-control-regex -- these are what it looks for
const controls = /[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g
