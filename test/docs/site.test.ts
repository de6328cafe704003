// The pages on the site: where it shows them, in which order, and where their links lead.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Tokens, lexer } from 'marked'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { linkOnSite } from '../../docs/site/links.ts'
import { placeOf, root, sitePages, sourceOf } from '../../docs/site/pages.ts'
import { type SidebarItem, sidebar } from '../../docs/site/sidebar.ts'
import { allPages } from './pages.ts'

const repository = 'https://example.com/eip-admission'

function linksOf(items: SidebarItem[]): string[] {
  return items.flatMap(({ link, items: below = [] }) => [...(link === undefined ? [] : [link]), ...linksOf(below)])
}

test('the guides are grouped by what a reader wants', () => {
  const guides = sidebar().find(({ link }) => link === '/guides/')
  const groups = new Map(guides?.items?.map(({ text, items = [] }) => [text, items.map(({ link }) => link)]))
  for (const [group, page] of [
    ['Providers', '/guides/hetzner'],
    ['Announcing software', '/guides/metallb'],
    ['Migrate', '/guides/from-cherry-servers'],
    ['Operate', '/guides/troubleshooting'],
  ] as const)
    assert.ok(groups.get(group)?.includes(page), group)
})

test('every page of the project is on the site, and in its sidebar', () => {
  const shown = sitePages().filter((file) => file.endsWith('.md'))
  assert.equal(
    allPages()
      .map(({ file }) => file)
      .filter((file) => !shown.includes(file)),
    [],
  )
  const links = linksOf(sidebar())
  const paths = shown.map((file) => `/${(placeOf(file) ?? '').replace(/(^|\/)index\.md$/, '$1').replace(/\.md$/, '')}`)
  assert.equal(
    paths.filter((path) => path !== '/' && !links.includes(path)),
    [],
  )
  assert.is(new Set(links).size, links.length)
})

test('the link to edit a page leads to the file that an edit changes', () => {
  assert.is(sourceOf('docs/guides/hetzner.md'), 'docs/guides/hetzner.md')
  assert.is(sourceOf('docs/reference/settings.md'), 'docs/pages/settings.ts')
  assert.is(sourceOf('docs/reference/support.md'), 'docs/reference/support.md')
  const pages = sitePages().filter((file) => file.endsWith('.md'))
  assert.equal(
    pages.filter((file) => !existsSync(join(root, sourceOf(file)))),
    [],
  )
})

test('every column of a table has a heading, which a screen reader says before its cells', () => {
  const unnamed = allPages().flatMap(({ file, text }) =>
    lexer(text).flatMap((token) =>
      token.type === 'table' && (token as Tokens.Table).header.some((cell) => cell.text === '')
        ? [`${file}: ${token.raw.split('\n', 1)[0]}`]
        : [],
    ),
  )
  assert.equal(unnamed, [])
})

test('the vocabulary is for those who change the program', () => {
  const groups = sidebar().filter(({ items = [] }) => items.some(({ link }) => link === '/vocabulary'))
  assert.equal(
    groups.map(({ text }) => text),
    ['Project'],
  )
})

test('a folder has the order of its README', () => {
  const install = sidebar().find(({ link }) => link === '/install/')
  assert.equal(
    install?.items?.map(({ text }) => text),
    ['kubeadm', 'k3s', 'RKE2', 'Talos'],
  )
})

test('a link leads to the page where the site has it', () => {
  assert.is(linkOnSite('../../CHANGELOG.md', 'docs/guides/upgrade.md', repository), '../changelog.md')
  assert.is(linkOnSite('docs/guides/install.md#webhooks', 'README.md', repository), './guides/install.md#webhooks')
  assert.is(linkOnSite('README.md', 'docs/install/k3s.md', repository), './index.md')
  assert.is(linkOnSite('docs/adr', 'README.md', repository), './adr/index.md')
  assert.is(linkOnSite('../pictures/create.svg', 'docs/concepts/repair.md', repository), '../pictures/create.svg')
})

test('a link to another file leads to the repository, or nowhere where there is none', () => {
  assert.is(linkOnSite('LICENSE', 'README.md', repository), `${repository}/blob/main/LICENSE`)
  assert.is(linkOnSite('LICENSE', 'README.md', undefined), undefined)
  assert.is(linkOnSite('https://example.com', 'README.md', undefined), 'https://example.com')
  assert.is(linkOnSite('#form', 'docs/vocabulary.md', undefined), '#form')
})

test.run()
