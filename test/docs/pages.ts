// The pages that people read: their code blocks, links and anchors.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import GithubSlugger from 'github-slugger'
import { type Token, type Tokens, lexer, walkTokens } from 'marked'
import type { Paragraph } from './sentences.ts'

export const root = join(import.meta.dirname, '..', '..')

/** A fenced block: its language, the words after that, and where it is. */
export type Block = { lang: string; words: string[]; text: string; place: string }

export type Page = { file: string; text: string; blocks: Block[]; links: string[]; anchors: Set<string> }

/** Every page of the project, by its path. */
export function allPages(): Page[] {
  return filesOf('**/*.md').map(readPage)
}

/** The files of the project that match a pattern. */
export function filesOf(pattern: string): string[] {
  const ignored = /(^|\/)(node_modules|dist|pages|\.[^/]+)(\/|$)/
  return globSync(pattern, { cwd: root, exclude: (name) => ignored.test(name) }).toSorted()
}

function readPage(file: string): Page {
  return parsePage(file, readFileSync(join(root, file), 'utf8'))
}

/** Parses a page as GitHub renders it. */
export function parsePage(file: string, text: string): Page {
  const blocks: Block[] = []
  const links: string[] = []
  const anchors = new Set<string>()
  const slugger = new GithubSlugger()
  let read = 0
  void walkTokens(lexer(text), (token: Token) => {
    if (isOf(token, 'heading')) anchors.add(slugger.slug(plainText(token.tokens)))
    if (isOf(token, 'link') || isOf(token, 'image')) links.push(token.href)
    if (!isOf(token, 'code') || token.codeBlockStyle === 'indented') return
    const [lang = '', ...words] = (token.lang ?? '').split(/\s+/)
    read = Math.max(read, text.indexOf(firstLine(token.raw), read))
    blocks.push({ lang, words, text: token.text, place: `${file}:${text.slice(0, read).split('\n').length}` })
    read += 1
  })
  return { file, text, blocks, links, anchors }
}

/** The paragraphs of a page, with its headings, items of lists and cells of tables. */
export function proseOf(text: string): Paragraph[] {
  let read = 0
  return leavesOf(lexer(text)).map((leaf) => {
    const [first = ''] = leaf.split('\n')
    read = Math.max(read, text.indexOf(first, read))
    return { line: text.slice(0, read).split('\n').length, text: leaf }
  })
}

/** The text of the blocks, in their order, as it is written. */
function leavesOf(blocks: Token[]): string[] {
  return blocks.flatMap((block) => {
    if (isOf(block, 'table')) return [...block.header, ...block.rows.flat()].map(({ text }) => text)
    if (isOf(block, 'list')) return block.items.flatMap((item) => leavesOf(item.tokens))
    if (isOf(block, 'blockquote')) return leavesOf(block.tokens)
    return ['paragraph', 'heading', 'text'].includes(block.type) ? [block.raw.trimEnd()] : []
  })
}

/** The words of a page in the type of code. `folder` is the one that the heading of a table's column names, or empty. */
export function codeSpansOf(text: string): { text: string; folder: string }[] {
  const spans: { text: string; folder: string }[] = []
  const folders = new Map<Token, string>()
  void walkTokens(lexer(text), (token: Token) => {
    if (isOf(token, 'codespan')) spans.push({ text: token.text, folder: folders.get(token) ?? '' })
    if (!isOf(token, 'table')) return
    const ofColumns = token.header.map(({ text: heading }) => /`([\w/.-]+\/)`/.exec(heading)?.[1] ?? '')
    // A table comes before its cells.
    for (const row of token.rows)
      for (const [n, { tokens }] of row.entries()) for (const one of tokens) folders.set(one, ofColumns[n] ?? '')
  })
  return spans
}

function isOf<T extends keyof Kinds>(token: Token, type: T): token is Kinds[T] {
  return token.type === type
}

type Kinds = {
  heading: Tokens.Heading
  link: Tokens.Link
  image: Tokens.Image
  code: Tokens.Code
  codespan: Tokens.Codespan
  table: Tokens.Table
  list: Tokens.List
  blockquote: Tokens.Blockquote
}

function plainText(tokens: Token[]): string {
  return tokens
    .map((token) => ('tokens' in token ? plainText(token.tokens ?? []) : 'text' in token ? String(token.text) : ''))
    .join('')
}

function firstLine(text: string): string {
  return text.slice(0, text.indexOf('\n') + 1)
}
