// Pages and printed texts use the field's words.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { stringsOf } from './comments.ts'
import { allPages, filesOf, proseOf, root } from './pages.ts'
import type { Paragraph } from './sentences.ts'
import { wordingProblems } from './wording.ts'

/** Rooms whose strings no user of the product reads. */
const unread = /^(?:test|bench|sandbox|lint)\//

function problemsOf(file: string, texts: Paragraph[], kind?: Parameters<typeof wordingProblems>[1]): string[] {
  return texts.flatMap(({ line, text }) => wordingProblems(text, kind).map((problem) => `${file}:${line}: ${problem}`))
}

test('pages use the words of the field', () => {
  assert.equal(
    allPages().flatMap(({ file, text }) =>
      problemsOf(file, proseOf(text), { isDecision: file.startsWith('docs/adr/') }),
    ),
    [],
  )
})

test('so do the texts that the program prints', () => {
  const files = filesOf('**/*.{ts,mjs}').filter((file) => !unread.test(file))
  const problems = files.flatMap((file) => {
    const texts = stringsOf(readFileSync(join(root, file), 'utf8')).filter(({ text }) => text.trim().includes(' '))
    return problemsOf(file, texts, { isPrinted: true })
  })
  assert.equal(problems, [])
})

/** Texts, and how many of their phrases another one replaces. */
const texts: [text: string, problems: number][] = [
  ['The cloud leads the address to a node that is well.', 3],
  ['The provider routes the address to a healthy node.', 0],
  ['It does not exist in the cloud provider.', 0],
  ['A command that mends it goes on by itself.', 3],
  ['Whoever gives\nit back', 1],
  ['An own address has no route any more, and an Event says so.', 3],
  ['Wait some minutes for the certificate authority.', 2],
  ['Wait a few minutes for the CA.', 0],
]

for (const [text, problems] of texts) {
  test(`wording: ${JSON.stringify(text)}`, () => assert.is(wordingProblems(text).length, problems))
}

test('a program does not speak of us, or of nobody', () => {
  const text = 'Nobody holds our lease.'
  assert.equal([wordingProblems(text).length, wordingProblems(text, { isPrinted: true }).length], [0, 2])
})

test('a decision may speak of the cloud', () => {
  const text = 'The cloud answers anew.'
  assert.equal([wordingProblems(text).length, wordingProblems(text, { isDecision: true }).length], [2, 1])
})

test.run()
