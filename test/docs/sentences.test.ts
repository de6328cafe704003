// No sentence is so long that a reader needs it twice: neither in a comment nor on a page.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { commentsOf } from './comments.ts'
import { allPages, filesOf, proseOf, root } from './pages.ts'
import { type Paragraph, maxWords, paragraphsOf, sentencesOf } from './sentences.ts'

const files = filesOf('**/*.{ts,mjs}')
const commentsIn = (file: string) => commentsOf(readFileSync(join(root, file), 'utf8'))

function tooLong(file: string, paragraphs: Paragraph[]): string[] {
  return paragraphs
    .flatMap(sentencesOf)
    .filter(({ words }) => words > maxWords)
    .map(({ line, words, text }) => `${file}:${line}: ${words} words, at most ${maxWords}: ${text}`)
}

test('no sentence of a comment has more than 25 words', () => {
  const problems = files.flatMap((file) => tooLong(file, commentsIn(file).flatMap(paragraphsOf)))
  assert.equal(problems, [])
  assert.ok(files.length > 1000)
})

/** Comments that begin with a word that is no subject. */
function subjectless(): string[] {
  return files.flatMap((file) =>
    commentsIn(file)
      .filter(({ text }) => /^\s*(What|One|Of) /.test(text))
      .map(({ line, text }) => `${file}:${line}: ${text.trim()}`),
  )
}
test('a comment begins with its subject', () => {
  assert.equal(subjectless(), [])
})

/** Exported functions of the product that no comment precedes. */
function withoutPromise(file: string): string[] {
  const lines = readFileSync(join(root, file), 'utf8').split('\n')
  return lines.flatMap((line, at) => {
    const [, name] = /^export (?:async )?function\*? (\w+)/.exec(line) ?? []
    return name === undefined || lines[at - 1]?.trimEnd().endsWith('*/') ? [] : [`${file}:${at + 1}: ${name}`]
  })
}

test('an exported function of the product has a sentence with its promise', () => {
  const product = files.filter((file) => !/^(test|bench|sandbox)\//.test(file))
  assert.equal(product.flatMap(withoutPromise), [])
  assert.ok(product.length > 400)
})

test('no sentence of a page has more than 25 words', () => {
  assert.equal(
    allPages().flatMap(({ file, text }) => tooLong(file, proseOf(text))),
    [],
  )
})

/** The parts of each text, and how many words each sentence has. */
const sentences: Record<string, [text: string, expected: [sentence: string, words: number][]]> = {
  'a point and a space end a sentence': [
    'One two. Three!',
    [
      ['One two.', 2],
      ['Three!', 1],
    ],
  ],
  'it may begin with a small letter': [
    'It waits. etcd answers.',
    [
      ['It waits.', 2],
      ['etcd answers.', 2],
    ],
  ],
  'a last one without a point counts': [
    'One. The rest',
    [
      ['One.', 1],
      ['The rest', 2],
    ],
  ],
  'colons and semicolons end none': ['It waits: one; two.', [['It waits: one; two.', 4]]],
  'a number with a point is one word': ['Since 1.2.3 it waits.', [['Since 1.2.3 it waits.', 4]]],
  'an abbreviation ends none': ['A fault, e.g. a time-out, ends it.', [['A fault, e.g. a time-out, ends it.', 7]]],
  'a closing quote belongs to its sentence': [
    '"It is." (So.) Yes.',
    [
      ['"It is."', 2],
      ['(So.)', 1],
      ['Yes.', 1],
    ],
  ],
  'code is one word': [
    'Run `a b. c`. Then wait.',
    [
      ['Run `a b. c`.', 2],
      ['Then wait.', 2],
    ],
  ],
  'a link is the words of its text': [
    'See [the page](a.md). Yes.',
    [
      ['See [the page](a.md).', 3],
      ['Yes.', 1],
    ],
  ],
  'a JSDoc link is one word': ['Like {@link Some name}.', [['Like {@link Some name}.', 2]]],
  'an address ends no sentence': [
    'See https://a.b/c?d. Yes.',
    [
      ['See https://a.b/c?d.', 2],
      ['Yes.', 1],
    ],
  ],
  'signs are no words': ['a -> b - c', [['a -> b - c', 3]]],
  'three points alone end none': ['From a ... to b.', [['From a ... to b.', 4]]],
  'a line break is a space': [
    'One\ntwo. Three',
    [
      ['One two.', 2],
      ['Three', 1],
    ],
  ],
  'nothing is no sentence': ['---', []],
}

for (const [name, [text, expected]] of Object.entries(sentences)) {
  test(`sentences: ${name}`, () => {
    const found = sentencesOf({ line: 1, text }).map((sentence) => [sentence.text, sentence.words])
    assert.equal(found, expected)
  })
}

test('a sentence knows its line, also after code of several lines', () => {
  const lines = sentencesOf({ line: 7, text: 'One\ntwo `a\nb`.\nThree. Four.' }).map(({ line }) => line)
  assert.equal(lines, [7, 10, 10])
})

/** The paragraphs of a comment, each part after the number of its line. */
const paragraphs: Record<string, [text: string, expected: string[]]> = {
  'lines of a paragraph belong together': ['One\ntwo', ['1 One\ntwo']],
  'a blank line divides': ['One\n\ntwo', ['1 One', '3 two']],
  'items of lists are apart': ['Two:\n- one\n  more\n2. two', ['1 Two:', '2 one\n  more', '4 two']],
  'a tag is not counted, and begins a paragraph': ['One\n@returns two', ['1 One', '2 two']],
  'fenced code is left out': ['One\n```\nlong code\n```\ntwo', ['1 One', '5 two']],
  'cells of a table are apart': ['| a b | c |\n| --- | --- |\n x | y z', ['1 a b', '1 c', '3  x', '3 y z']],
}

for (const [name, [text, expected]] of Object.entries(paragraphs)) {
  test(`paragraphs of a comment: ${name}`, () => {
    const found = paragraphsOf({ line: 1, text }).filter((one) => one.text !== '')
    assert.equal(
      found.map((one) => `${one.line} ${one.text}`),
      expected,
    )
  })
}

/** The comments of a source, each after the number of its line. */
const comments: Record<string, [source: string, expected: string[]]> = {
  'lines below each other are one': ['// One\n// two\nf()', ['1 One\ntwo']],
  'a line after code is its own': ['f() // One\n// two', ['1 One', '2 two']],
  'another column begins another': ['// One\n  // two', ['1 One', '2 two']],
  'JSDoc loses its stars': ['/**\n * One\n * - two\n */', ['1 \nOne\n- two']],
  'strings and templates have none': ["f('// a', `/* b */ ${g('//c')} // d`) // yes", ['1 yes']],
  'a comment inside a template counts': ['`a ${{ b: 1 /* yes */ }} // no`', ['1  yes']],
  'templates lie within templates': ['`${`${a}` /* yes */} // no`', ['1  yes']],
  'a regular expression has none': ['f(/[/*]"/) // yes', ['1 yes']],
  'a division begins no regular expression': ["(a) / b['c'] / 2 // yes", ['1 yes']],
  'a name after a keyword may be divided': ['type / 2 // yes\nreturn /"/ // too', ['1 yes', '2 too']],
}

for (const [name, [source, expected]] of Object.entries(comments)) {
  test(`comments: ${name}`, () => {
    assert.equal(
      commentsOf(source).map(({ line, text }) => `${line} ${text}`),
      expected,
    )
  })
}

test('the prose of a page is its headings, paragraphs, items, quotes and cells', () => {
  const page =
    '# A\n\nOne\ntwo\n\n- b\n  - c\n\n> d\n\n```sh\ncode\n```\n\n<!-- e -->\n\n| f | g |\n| - | - |\n| h | i |\n'
  assert.equal(
    proseOf(page).map(({ line, text }) => `${line} ${text}`),
    ['1 # A', '3 One\ntwo', '6 b', '7 c', '9 d', '17 f', '17 g', '19 h', '19 i'],
  )
})

test.run()
