import { globSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { pagesElsewhere, placeOf, root, titleOf } from './pages.ts'

/** A part of the sidebar in the form that VitePress reads. */
export type SidebarItem = { text: string; link?: string; collapsed?: boolean; items?: SidebarItem[] }

/** Which folders of docs/ have a part of the sidebar, in this order. The README of a folder is its index. */
const folders = ['install', 'concepts', 'guides', 'reference', 'adr']

const linkInList = /^(?:[-*]|\d+\.) \[[^\]]+\]\(([^)#]+\.md)\)/gm

/** Pages of docs/ that are for those who change the program. */
const forContributors = ['docs/vocabulary.md']

/** The sidebar: the pages of each folder in the order of its README, and then those that it does not list. */
export function sidebar(): SidebarItem[] {
  return [
    { text: 'Start', items: pagesOf('docs') },
    ...folders.map((folder) => ({
      text: titleOf(`docs/${folder}/README.md`),
      link: linkTo(`docs/${folder}/README.md`),
      collapsed: folder !== 'install' && folder !== 'concepts',
      items: pagesOf(`docs/${folder}`),
    })),
    { text: 'Project', items: [...Object.keys(pagesElsewhere), ...forContributors].map(itemOf) },
  ]
}

/** The pages of a folder. A heading of its README above a list of pages makes a group of them. */
function pagesOf(folder: string): SidebarItem[] {
  const text = readFileSync(join(root, folder, 'README.md'), 'utf8')
  const all = globSync(`${folder}/*.md`, { cwd: root }).filter(
    (file) => !file.endsWith('/README.md') && !forContributors.includes(file),
  )
  const parts = text.split(/^## /m).map((part, n) => {
    const listed = [...part.matchAll(linkInList)].map(([, target = '']) => posix.join(folder, target))
    return {
      heading: n === 0 ? '' : (part.split('\n', 1)[0] ?? ''),
      files: listed.filter((file) => all.includes(file)),
    }
  })
  const known = parts.flatMap(({ files }) => files)
  const others = all.filter((file) => !known.includes(file)).map(itemOf)
  return [
    ...parts.flatMap(({ heading, files }) => groupOf(heading, [...new Set(files)].map(itemOf))),
    ...others.sort((a, b) => a.text.localeCompare(b.text, 'en')),
  ]
}

function groupOf(heading: string, items: SidebarItem[]): SidebarItem[] {
  if (heading === '' || items.length === 0) return items
  // A group that folds would be a button in a button, which a screen reader cannot read.
  return [{ text: heading, items }]
}

function itemOf(file: string): SidebarItem {
  return { text: titleOf(file), link: linkTo(file) }
}

function linkTo(file: string): string {
  return `/${(placeOf(file) ?? '').replace(/\.md$/, '').replace(/(^|\/)index$/, '$1')}`
}
