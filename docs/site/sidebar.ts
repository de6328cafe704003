import { globSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { pagesElsewhere, placeOf, root, titleOf } from './pages.ts'

/** A part of the sidebar in the form that VitePress reads. */
export type SidebarItem = { text: string; link?: string; collapsed?: boolean; items?: SidebarItem[] }

/** Which folders of docs/ have a part of the sidebar, in this order. The README of a folder is its index. */
const folders = ['install', 'concepts', 'guides', 'reference', 'adr']

const linkInList = /^(?:[-*]|\d+\.) \[[^\]]+\]\(([^)#]+\.md)\)/gm

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
    { text: 'Project', items: Object.keys(pagesElsewhere).map(itemOf) },
  ]
}

function pagesOf(folder: string): SidebarItem[] {
  const text = readFileSync(join(root, folder, 'README.md'), 'utf8')
  const all = globSync(`${folder}/*.md`, { cwd: root }).filter((file) => !file.endsWith('/README.md'))
  const listed = [...text.matchAll(linkInList)].map(([, target = '']) => posix.join(folder, target))
  const inOrder = [...new Set(listed.filter((file) => all.includes(file)))]
  const others = all.filter((file) => !listed.includes(file))
  return [...inOrder.map(itemOf), ...others.map(itemOf).sort((a, b) => a.text.localeCompare(b.text, 'en'))]
}

function itemOf(file: string): SidebarItem {
  return { text: titleOf(file), link: linkTo(file) }
}

function linkTo(file: string): string {
  return `/${(placeOf(file) ?? '').replace(/\.md$/, '').replace(/(^|\/)index$/, '$1')}`
}
