// Writes the pages that are made from code; with --check it says which are not as they would be written.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { settingsReference } from '../server/settings/reference.ts'

const pages = [{ file: 'docs/reference/settings.md', text: settingsReference() }]

for (const { file, text } of pages) {
  const path = join(import.meta.dirname, '..', file)
  if (!process.argv.includes('--check')) writeFileSync(path, text)
  else if (readFileSync(path, 'utf8') !== text) {
    console.error(`${file} is not what the code says: run make generate`)
    process.exitCode = 1
  }
}
