// Every block of commands that the documentation says is run: in the order of its page, on a real control plane.
import { test } from 'uvu'
import { allPages } from '../docs/pages.ts'
import { hasCommands, runPage } from '../docs/run-page.ts'

for (const page of allPages().filter(hasCommands)) test(`${page.file} does what it says`, () => runPage(page))

test.run()
