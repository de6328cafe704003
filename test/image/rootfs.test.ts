import { execFileSync } from 'node:child_process'
import { globSync, lstatSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Ajv from 'ajv'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { assembleRootfs } from '../../packaging/rootfs.ts'
import { appFolder, commandLine, imageEnv, imageNode } from '../../packaging/program.ts'

const root = join(import.meta.dirname, '..', '..')
const dir = mkdtempSync(join(tmpdir(), 'eip-admission-image-'))
const rootfs = join(dir, 'rootfs')
await assembleRootfs(rootfs)

const files = globSync('**/*', { cwd: rootfs })
  .map((path) => ({ path: `/${path}`, facts: lstatSync(join(rootfs, path)) }))
  .filter(({ facts }) => facts.isFile())

test('the image has at most 130 MB', () => {
  const bytes = files.reduce((sum, { facts }) => sum + facts.size, 0)
  assert.ok(bytes <= 130_000_000, `${bytes} bytes`)
})

test('the only programs are Node and the loader of its libraries: no shell, no package manager', () => {
  const programs = files
    .filter(({ path, facts }) => (facts.mode & 0o111) !== 0 && !/\.(so|mjs)(\.\d+)*$/.test(path))
    .map(({ path }) => path)
  assert.equal(programs, [imageNode])
  const loaders = files.filter(({ path }) => /\/ld-linux[^/]*$/.test(path))
  assert.is(loaders.length, 1)
})

test('only root may write any file of it', () => {
  const writable = files.filter(({ facts }) => (facts.mode & 0o022) !== 0).map(({ path }) => path)
  assert.equal(writable, [])
})

test('the licences of Node and of every library are in it', () => {
  for (const name of ['node/LICENSE', 'libc6/copyright', 'libstdc++6/copyright', 'ca-certificates/copyright'])
    assert.ok(
      files.some(({ path }) => path === `/usr/share/doc/${name}`),
      name,
    )
})

type Component = { name: string; version: string; purl: string; 'bom-ref': string }
type Sbom = {
  components: Component[]
  dependencies: { ref: string; dependsOn: string[] }[]
  metadata: { component: Component; timestamp?: string }
  [field: string]: unknown
}

test('the bill of materials names what is in the image, and nothing else', () => {
  const sbom = JSON.parse(readFileSync(join(rootfs, appFolder, 'sbom.cdx.json'), 'utf8')) as Sbom
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  assert.equal([sbom.bomFormat, sbom.specVersion], ['CycloneDX', '1.5'])
  assert.equal([sbom.metadata.component.name, sbom.metadata.component.version], ['eip-admission', version])
  const bundled = JSON.parse(readFileSync(join(rootfs, appFolder, 'packages.json'), 'utf8')) as Component[]
  const packages = globSync('*', { cwd: join(rootfs, 'var/lib/dpkg/status.d') })
  const expected = [...bundled.map(({ name }) => name), 'nodejs', ...packages].toSorted()
  assert.equal(sbom.components.map(({ name }) => name).toSorted(), expected)
  assert.ok(sbom.components.some(({ purl }) => purl === `pkg:generic/nodejs@${process.version.slice(1)}`))
  for (const { name, version: of, purl } of sbom.components)
    assert.ok(of !== '' && /^pkg:(npm|deb|generic)\//.test(purl), name)
})

test('the bill of materials has the form of CycloneDX: unique references, and no edge to what is not there', () => {
  const sbom = JSON.parse(readFileSync(join(rootfs, appFolder, 'sbom.cdx.json'), 'utf8')) as Sbom
  const text = { type: 'string', minLength: 1 }
  const component = {
    type: 'object',
    required: ['bom-ref', 'type', 'name', 'version', 'purl'],
    properties: { purl: text },
  }
  const schema = {
    type: 'object',
    required: ['bomFormat', 'specVersion', 'serialNumber', 'version', 'metadata', 'components'],
    properties: {
      serialNumber: {
        type: 'string',
        pattern: '^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$',
      },
      version: { const: 1 },
      components: { type: 'array', minItems: 50, items: component },
    },
  }
  const ajv = new Ajv.default()
  assert.ok(ajv.validate(schema, sbom), ajv.errorsText())
  const refs = sbom.components.map((found) => found['bom-ref'])
  assert.is(new Set(refs).size, refs.length)
  const known = new Set([...refs, sbom.metadata.component['bom-ref']])
  for (const { ref, dependsOn } of sbom.dependencies)
    for (const name of [ref, ...dependsOn]) assert.ok(known.has(name), name)
})

const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8')

test('the Dockerfile runs what this builds, as a user without rights, from a base that is pinned', () => {
  const entry = JSON.parse(/^ENTRYPOINT (\[.*\])$/m.exec(dockerfile)?.[1] ?? '[]') as string[]
  assert.equal(entry, commandLine(appFolder, imageNode))
  const env = Object.fromEntries([...dockerfile.matchAll(/^ENV (\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]))
  assert.equal(env, imageEnv)
  assert.match(dockerfile, /^USER 65532:65532$/m)
  assert.match(dockerfile, /^ARG BASE=\S+@sha256:[0-9a-f]{64}$/m)
  assert.equal(dockerfile.match(/^FROM .*$/gm), ['FROM ${BASE} AS build', 'FROM scratch'])
  assert.not.match(dockerfile, 'HEALTHCHECK')
})

test('two assemblies have the same files', async () => {
  const again = join(dir, 'again')
  await assembleRootfs(again)
  execFileSync('diff', ['--recursive', '--no-dereference', rootfs, again])
})

test.after(() => rmSync(dir, { recursive: true, force: true }))

test.run()
