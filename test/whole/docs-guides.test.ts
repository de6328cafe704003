// Runs every block of commands of the guides that is for the sandbox, in the order of its page.
import { test } from 'uvu'
import { sandboxPages, runPage } from '../docs/run-page.ts'

for (const page of sandboxPages().filter(({ file }) => file.startsWith('docs/guides/')))
  test(`${page.file} does what it says`, () => runPage(page))

test.run()
