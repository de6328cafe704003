// Every block of commands that the documentation says is run: in the order of its page, in the sandbox.
import { test } from 'uvu'
import { groundOf } from '../docs/marks.ts'
import { allPages } from '../docs/pages.ts'
import { hasCommands, runPage } from '../docs/run-page.ts'

const pages = allPages().filter((page) => hasCommands(page) && !groundOf(page).isEmpty)

for (const page of pages) test(`${page.file} does what it says`, () => runPage(page))

test.run()
