// Writes the pages that are made from tables in the code; with --check it reports those that are out of date.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { annotationsReference } from '../server/settings/annotations-reference.ts'
import { settingsReference } from '../server/settings/reference.ts'

const pages = [
  { file: 'docs/reference/settings.md', text: settingsReference() },
  { file: 'docs/reference/annotations.md', text: annotationsReference() },
]

for (const { file, text } of pages) {
  const path = join(import.meta.dirname, '..', file)
  if (!process.argv.includes('--check')) writeFileSync(path, text)
  else if (!existsSync(path) || readFileSync(path, 'utf8') !== text) {
    console.error(`${file} is out of date: run make generate`)
    process.exitCode = 1
  }
}
