// The pages that people read: their code blocks, links and anchors.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import GithubSlugger from 'github-slugger'
import { type Token, type Tokens, lexer, walkTokens } from 'marked'

export const root = join(import.meta.dirname, '..', '..')

/** A fenced block: its language, the words after that, and where it is. */
export type Block = { lang: string; words: string[]; text: string; place: string }

export type Page = { file: string; text: string; blocks: Block[]; links: string[]; anchors: Set<string> }

/** Every page of the project, by its path. */
export function allPages(): Page[] {
  const ignored = /(^|\/)(node_modules|dist|pages|\.[^/]+)(\/|$)/
  return globSync('**/*.md', { cwd: root, exclude: (name) => ignored.test(name) })
    .toSorted()
    .map(readPage)
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

function isOf<T extends keyof Kinds>(token: Token, type: T): token is Kinds[T] {
  return token.type === type
}

type Kinds = { heading: Tokens.Heading; link: Tokens.Link; image: Tokens.Image; code: Tokens.Code }

function plainText(tokens: Token[]): string {
  return tokens
    .map((token) => ('tokens' in token ? plainText(token.tokens ?? []) : 'text' in token ? String(token.text) : ''))
    .join('')
}

function firstLine(text: string): string {
  return text.slice(0, text.indexOf('\n') + 1)
}
