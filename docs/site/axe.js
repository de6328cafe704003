// Looks for barriers in the built site: one page of each kind, by the rules of axe that need no layout. A page with a
// violation ends the program with 1.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import axe from 'axe-core'
import { JSDOM, VirtualConsole } from 'jsdom'

const site = join(import.meta.dirname, '..', '..', 'dist', 'site')
const pages = [
  'index',
  'overview',
  'getting-started',
  'guides/install',
  'guides/hetzner',
  'concepts/repair',
  'reference/doctor',
]

for (const page of pages) {
  const { window } = new JSDOM(readFileSync(join(site, `${page}.html`), 'utf8'), {
    runScripts: 'outside-only',
    // It would print what jsdom lacks.
    virtualConsole: new VirtualConsole(),
  })
  window.eval(axe.source)
  // Colours and the size of targets need a layout, which jsdom has not.
  const rules = { 'color-contrast': { enabled: false }, 'target-size': { enabled: false } }
  const { violations } = await window.axe.run(window.document, { rules, resultTypes: ['violations'] })
  for (const { id, help, nodes } of violations) {
    console.error(`${page}: ${id}: ${help}\n${nodes.map(({ html }) => `  ${html.slice(0, 160)}`).join('\n')}`)
    process.exitCode = 1
  }
  window.close()
}
