// Below the commands nobody knows which announcing software there is: whoever adds one changes its folder and the list.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { softwares } from '../../announcers/announcers.ts'

const root = join(import.meta.dirname, '..', '..')
/** `doctor` and `takeover` have checks and steps for one software each, on what `inspect` reads. */
const knowing = ['announcers', 'commands', 'inspect', 'sandbox', 'test', 'bench', 'docs', 'packaging', 'node_modules']

test('no room below the commands names a kind of the load balancer setting', () => {
  // Ordinary words say nothing.
  const words = ['empty', 'assign']
  const kinds = softwares.flatMap((software) => software.kinds).filter((kind) => !words.includes(kind))
  const named = new RegExp(`['"\`](${kinds.join('|')})['"\`]`)
  const files = globSync('*/**/*.ts', { cwd: root, exclude: knowing.map((room) => `${room}/**`) })
  assert.ok(files.length > 300, `${files.length} files`)
  const found = files.filter((file) => named.test(readFileSync(join(root, file), 'utf8')))
  assert.equal(found, [])
})

test('each kind and each scheme belongs to one software', () => {
  const kinds = softwares.flatMap((software) => software.kinds)
  const schemes = softwares.flatMap((software) => Object.keys(software.schemes))
  assert.is(new Set(kinds).size, kinds.length)
  assert.is(new Set(schemes).size, schemes.length)
})

test.run()
