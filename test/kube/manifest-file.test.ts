import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { parseManifest, readManifest } from '../../kube/manifest-file.ts'

const namespace = 'apiVersion: v1\nkind: Namespace\nmetadata: {name: metallb-system}\n'

test('every document is an object, and empty documents are dropped', () => {
  const { objects } = parseManifest(`# MetalLB\n---\n${namespace}---\n\n---\n${namespace}...\n`)
  const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'metallb-system' } }
  assert.equal(objects, [object, object])
})

test('a List is replaced by its items', () => {
  const { objects } = parseManifest(`kind: List\napiVersion: v1\nitems:\n- ${namespace.replaceAll('\n', '\n  ')}`)
  assert.equal(
    objects?.map(({ kind }) => kind),
    ['Namespace'],
  )
})

test('numbers and booleans are read as kubectl reads them', () => {
  const { objects: [object] = [] } = parseManifest(`${namespace}mode: 0400\nhostNetwork: yes\nversion: "1.10"\n`)
  assert.equal(object, { ...object, mode: 256, hostNetwork: true, version: '1.10' })
})

const wrong: [name: string, text: string, expected: string][] = [
  ['an empty file', '', 'holds no object'],
  ['nothing but comments', '# later\n---\n', 'holds no object'],
  ['no YAML', `${namespace}---\nkind: [a-secret\n`, 'is not YAML (line 6 column 1)'],
  ['a text', 'a-secret', 'has no apiVersion, kind or metadata.name in object 1'],
  [
    'a values file',
    `${namespace}---\nspeaker: {frr: a-secret}\n`,
    'has no apiVersion, kind or metadata.name in object 2',
  ],
  [
    'an object without a name',
    'apiVersion: v1\nkind: Secret\nmetadata: {}\n',
    'has no apiVersion, kind or metadata.name in object 1',
  ],
]
for (const [name, text, expected] of wrong)
  test(`${name}: ${expected}`, () => assert.is(parseManifest(text).wrong, expected))

test('a missing file is reported', () => assert.is(readManifest('/no/such/file.yaml').wrong, 'does not exist'))

test.run()
