// The comments and the strings of a TypeScript file, found by TypeScript's own scanner. So a `//` in a string, a template
// or a regular expression is no comment.
import { SyntaxKind } from 'typescript/unstable/ast'
import { createScanner } from 'typescript/unstable/ast/scanner'
import type { Paragraph } from './sentences.ts'

type Found = { line: number; column: number; ownLine: boolean; text: string }

type Scanned = { kind: SyntaxKind; start: number; end: number }

/** The comments of a source text. Lines of `//` below each other are one comment. */
export function commentsOf(source: string): Paragraph[] {
  const joined: (Found & { next: number })[] = []
  const found = scan(source).filter(({ kind }) => isComment(kind))
  for (const comment of found.map((token) => commentAt(source, token))) {
    const before = joined.at(-1)
    const isLine = comment.text.startsWith('//')
    const continues =
      isLine && comment.ownLine && before?.next === comment.line && before.column === comment.column && before.ownLine
    if (continues) before.text += `\n${comment.text}`
    if (continues) before.next += 1
    else joined.push({ ...comment, next: isLine ? comment.line + 1 : -1 })
  }
  return joined.map(({ line, text }) => ({ line, text: proseOf(text) }))
}

/** The literals and the parts of templates of a source text: what a program may print. */
export function stringsOf(source: string): Paragraph[] {
  return scan(source)
    .filter(({ kind }) => stringKinds.has(kind))
    .map(({ start, end }) => ({ line: source.slice(0, start).split('\n').length, text: source.slice(start + 1, end) }))
    .map(({ line, text }) => ({ line, text: text.replace(/(?:\$\{|.)$/s, '') }))
}

const stringKinds = new Set([
  SyntaxKind.StringLiteral,
  SyntaxKind.NoSubstitutionTemplateLiteral,
  SyntaxKind.TemplateHead,
  SyntaxKind.TemplateMiddle,
  SyntaxKind.TemplateTail,
])

function proseOf(comment: string): string {
  if (comment.startsWith('//')) return comment.replaceAll(/^\/\/+ ?/gm, '')
  return comment
    .replace(/^\/\*+/, '')
    .replace(/\s*\*+\/$/, '')
    .replaceAll(/^[ \t]*\* ?/gm, '')
}

function scan(source: string): Scanned[] {
  const scanner = createScanner(false, undefined, source)
  const found: Scanned[] = []
  /** For each template that is open, how many braces of its expression are. */
  const templates: number[] = []
  let before = SyntaxKind.Unknown
  for (let kind = scanner.scan(); kind !== SyntaxKind.EndOfFile; kind = scanner.scan()) {
    const isSlash = kind === SyntaxKind.SlashToken || kind === SyntaxKind.SlashEqualsToken
    if (isSlash && !endsValue(before)) kind = scanner.reScanSlashToken()
    if (kind === SyntaxKind.CloseBraceToken && templates.at(-1) === 0) {
      kind = scanner.reScanTemplateToken(false)
      if (kind === SyntaxKind.TemplateTail) templates.pop()
    } else if (kind === SyntaxKind.TemplateHead) templates.push(0)
    else if (kind === SyntaxKind.OpenBraceToken) count(templates, 1)
    else if (kind === SyntaxKind.CloseBraceToken) count(templates, -1)
    found.push({ kind, start: scanner.getTokenStart(), end: scanner.getTokenEnd() })
    if (!isComment(kind) && !isSpace(kind)) before = kind
  }
  return found
}

function commentAt(source: string, { start, end }: Scanned): Found {
  const head = source.slice(0, start)
  const column = start - (head.lastIndexOf('\n') + 1)
  const ownLine = head.slice(head.length - column).trim() === ''
  return { line: head.split('\n').length, column, ownLine, text: source.slice(start, end) }
}

function count(templates: number[], change: number): void {
  const last = templates.pop()
  if (last !== undefined) templates.push(last + change)
}

/** Whether a slash after this token divides. After any other it begins a regular expression. */
function endsValue(kind: SyntaxKind): boolean {
  return valueEnds.has(kind) || (kind >= SyntaxKind.FirstContextualKeyword && kind <= SyntaxKind.LastKeyword)
}

const valueEnds = new Set([
  SyntaxKind.Identifier,
  SyntaxKind.PrivateIdentifier,
  SyntaxKind.NumericLiteral,
  SyntaxKind.BigIntLiteral,
  SyntaxKind.StringLiteral,
  SyntaxKind.NoSubstitutionTemplateLiteral,
  SyntaxKind.TemplateTail,
  SyntaxKind.RegularExpressionLiteral,
  SyntaxKind.CloseParenToken,
  SyntaxKind.CloseBracketToken,
  SyntaxKind.CloseBraceToken,
  SyntaxKind.ThisKeyword,
  SyntaxKind.SuperKeyword,
  SyntaxKind.NullKeyword,
  SyntaxKind.TrueKeyword,
  SyntaxKind.FalseKeyword,
])

function isComment(kind: SyntaxKind): boolean {
  return kind === SyntaxKind.SingleLineCommentTrivia || kind === SyntaxKind.MultiLineCommentTrivia
}

function isSpace(kind: SyntaxKind): boolean {
  return kind === SyntaxKind.WhitespaceTrivia || kind === SyntaxKind.NewLineTrivia
}
