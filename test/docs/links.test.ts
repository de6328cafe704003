// Every link between pages leads somewhere, also those in texts that the program prints.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { allPages, codeSpansOf, filesOf, parsePage, root } from './pages.ts'

const pages = allPages()
const anchorsOf = new Map(pages.map(({ file, anchors }) => [file, anchors]))

/** Why a link of a page leads nowhere; undefined if it is good, or leads out of the project. */
function problemOf(file: string, href: string): string | undefined {
  if (/^[a-z]+:/i.test(href)) return undefined
  const [path = '', anchor] = decodeURI(href).split('#')
  const target = path === '' ? file : posix.join(posix.dirname(file), path)
  if (!existsSync(join(root, target))) return `${file}: ${href} does not exist`
  if (anchor === undefined || !target.endsWith('.md') || anchorsOf.get(target)?.has(anchor)) return undefined
  return `${file}: ${href}: ${target} has no heading for #${anchor}`
}

test('every link of every page leads to a file and a heading that exist', () => {
  const problems = pages.flatMap(({ file, links }) => links.map((href) => problemOf(file, href)))
  assert.equal(
    problems.filter((problem) => problem !== undefined),
    [],
  )
  assert.ok(pages.length > 40)
})

test('every page that the code names exists', () => {
  const tools = ['test', 'docs', 'node_modules', 'dist']
  const files = globSync('*/**/*.{ts,tpl,txt}', { cwd: root, exclude: tools.map((folder) => `${folder}/**`) })
  const named = files.flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(/\bdocs\/[\w/.-]+\.md(#[\w-]+)?/g)].map(([name]) => ({
      file,
      name,
    })),
  )
  const problems = named.map(({ file, name }) => problemOf('README.md', name) && `${file} names ${name}`)
  assert.equal(
    problems.filter((problem) => problem !== undefined),
    [],
  )
})

/** Where the words of `npm test` begin. */
const beginnings = ['', 'test/']
const rooms = globSync('*/', { cwd: root })
const baseNames = new Set(filesOf('**/*.{ts,mjs,json,md}').map((file) => posix.basename(file)))

/** The files and folders that a page names and that do not exist. A name without a folder may be in any. */
function missingFiles(text: string): string[] {
  const isPath = (name: string) =>
    /^[\w.-]+(\/[\w.-]+)*\/?$/.test(name) &&
    (/(\/|[\w-]\.(ts|mjs|json|md))$/.test(name) || rooms.some((room) => name.startsWith(`${room}/`)))
  const exists = ({ text: name, folder }: { text: string; folder: string }) => {
    if (name.includes('/')) return beginnings.some((beginning) => existsSync(join(root, beginning, name)))
    return folder === '' ? baseNames.has(name) : existsSync(join(root, folder, name))
  }
  const missing = codeSpansOf(text).filter((span) => isPath(span.text) && !exists(span))
  return [...new Set(missing.map(({ text: name, folder }) => (name.includes('/') ? name : folder + name)))]
}

test('every file that the pages for contributors name exists', () => {
  const guides = pages.filter(({ file }) => /^CONTRIBUTING\.md$|^docs\/guides\/add-a-/.test(file))
  assert.ok(guides.length > 1)
  assert.equal(
    guides.flatMap(({ file, text }) => missingFiles(text).map((name) => `${file} names ${name}`)),
    [],
  )
})

test('a name is looked for in the folder of its column, below the root or test/, or anywhere', () => {
  const table = '| where (`clouds/http/`) |\n| --- |\n| `whole-list.ts` |\n| `sweep.ts` |\n| `lib/none.ts` |\n'
  assert.equal(missingFiles(table), ['clouds/http/sweep.ts', 'lib/none.ts'])
  assert.equal(missingFiles('`sweep.ts`, `none.ts`, `rig/`, `lib/none` and `a/b`'), ['none.ts', 'lib/none'])
})

test('a link to a missing page, to a missing heading, and a good one are kept apart', () => {
  assert.match(problemOf('README.md', 'docs/none.md') ?? '', 'does not exist')
  assert.match(problemOf('README.md', 'docs/vocabulary.md#none') ?? '', 'no heading for #none')
  assert.is(problemOf('docs/guides/install.md', '../vocabulary.md#form'), undefined)
  assert.is(problemOf('README.md', 'https://example.com/#x'), undefined)
})

test('anchors are those of GitHub', () => {
  const { anchors } = parsePage(
    'a.md',
    '# `kubectl get eip` does not end\n\n## A [link](b.md), and more\n\n## Form\n\n## Form\n',
  )
  assert.equal([...anchors], ['kubectl-get-eip-does-not-end', 'a-link-and-more', 'form', 'form-1'])
})

test.run()
