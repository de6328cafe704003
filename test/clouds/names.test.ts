// A vendor's names stand in its folder: whoever adds a cloud changes that folder and the list.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { dialects } from '../../clouds/dialects.ts'

const root = join(import.meta.dirname, '..', '..')
const tools = ['sandbox', 'test', 'bench', 'docs', 'packaging', 'node_modules']

/** The folders of vendors, and their list. */
const vendors = globSync('clouds/*/provider.ts', { cwd: root }).map((file) => file.replace('provider.ts', ''))
const ofVendors = [...vendors, 'clouds/dialects.ts']

/** Files outside that name a vendor, and why. */
const exceptions: Record<string, string> = {
  'clouds/dialect/policy.ts': 'annotations of a provider that is not in use have no effect, and a warning names them',
  'commands/program.ts': 'the help of `takeover` says from which programs it takes a cluster over',
  'settings/common.ts': 'the sentence of --sweep-untagged says whose reservations name no cluster',
  'manifests/generate/files.ts': 'an example for people to type',
}

const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&')

/** Its name for people, the values of its setting in quotation marks, its variables, its annotations, its objects. */
const names = dialects.flatMap((dialect) => [
  `\\b${dialect.title.split(' ')[0]}\\b`,
  ...[dialect.name, ...dialect.providers].flatMap((name) => [`['"\`/]${name}['"\`/]`, `=${name}\\b`]),
  `\\b${dialect.envPrefix}`,
  ...[dialect.annotationPrefix ?? [], dialect.names.announcerMarks.counting.replace('nomatch.', '')]
    .flat()
    .map(escaped),
  ...dialect.predecessors.map(({ image }) => escaped(image)),
])

const files = globSync('*/**/*.ts', { cwd: root, exclude: tools.map((room) => `${room}/**`) })

function naming(all: string[]): string[] {
  const named = new RegExp(names.join('|'))
  return all.filter((file) => named.test(readFileSync(join(root, file), 'utf8'))).toSorted()
}

test('only the folder of a vendor names it', () => {
  assert.ok(files.length > 300, `${files.length} files`)
  const outside = files.filter((file) => !ofVendors.some((place) => file.startsWith(place)))
  assert.equal(naming(outside), Object.keys(exceptions).toSorted())
})

test('a name is found where there is one', () => {
  const settings = globSync('clouds/*/**/settings.ts', { cwd: root })
  assert.ok(settings.length > 4)
  assert.equal(naming(settings), settings.toSorted())
})

test.run()
