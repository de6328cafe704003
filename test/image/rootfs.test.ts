import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { globSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import Ajv from 'ajv'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { linksOf } from '../../packaging/elf.ts'
import { archive, imageConfig } from '../../packaging/image.ts'
import { assembleRootfs, ownArchitecture } from '../../packaging/rootfs.ts'
import { appFolder, commandLine, imageEnv, imageNode } from '../../packaging/program.ts'

const root = join(import.meta.dirname, '..', '..')
const dir = mkdtempSync(join(tmpdir(), 'eip-admission-image-'))
const rootfs = join(dir, 'rootfs')
await assembleRootfs(rootfs)
const archiveOptions = { architecture: ownArchitecture, committedSeconds: 0, config: {}, name: 'test/image:1' }
const sha256 = (content: Buffer) => createHash('sha256').update(content).digest('hex')

type Blob = { digest: string; size: number }

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

test('two assemblies are the same image, also for one whose new files others may not read', async () => {
  const again = join(dir, 'again')
  const usual = process.umask(0o077)
  await assembleRootfs(again).finally(() => process.umask(usual))
  execFileSync('diff', ['--recursive', '--no-dereference', rootfs, again])
  const digests = [rootfs, again].map((folder) => archive(folder, join(dir, 'image.tar'), archiveOptions))
  assert.is(digests[0], digests[1])
})

const dockerLabels = () => {
  const [, text = ''] = /^LABEL ((?:.*\\\n)*.*)$/m.exec(dockerfile) ?? []
  return Object.fromEntries(text.matchAll(/(org\.\S+?)="(.*?)"/g).map(([, name = '', value = '']) => [name, value]))
}

test('the image without Docker runs the same as that of the Dockerfile, and has the same labels', () => {
  const config = imageConfig({ version: '${VERSION}', revision: '${REVISION}' })
  assert.equal(config.Labels, dockerLabels())
  assert.is(config.User, /^USER (.*)$/m.exec(dockerfile)?.[1])
  assert.is(config.WorkingDir, /^WORKDIR (.*)$/gm.exec(dockerfile.slice(dockerfile.indexOf('FROM scratch')))?.[1])
  assert.equal(config.Cmd, JSON.parse(/^CMD (.*)$/m.exec(dockerfile)?.[1] ?? ''))
})

test('every part of the archive has the digest and the size by which the others name it', () => {
  const layout = join(dir, 'layout')
  mkdirSync(layout)
  const digest = archive(rootfs, join(dir, 'image.tar'), archiveOptions)
  execFileSync('tar', ['-xf', join(dir, 'image.tar'), '-C', layout])
  const blob = (of: Blob) => {
    const content = readFileSync(join(layout, 'blobs', of.digest.replace(':', '/')))
    assert.equal([`sha256:${sha256(content)}`, content.length], [of.digest, of.size])
    return content
  }
  const json = (content: Buffer) => JSON.parse(content.toString('utf8'))
  const [top] = json(readFileSync(join(layout, 'index.json'))).manifests
  assert.equal([top.digest, top.annotations['org.opencontainers.image.ref.name']], [digest, archiveOptions.name])
  const manifest = json(blob(top))
  const config = json(blob(manifest.config))
  const tar = gunzipSync(blob(manifest.layers[0]))
  assert.equal(config.rootfs.diff_ids, [`sha256:${sha256(tar)}`])
  // `docker load` and `crane push` read this list.
  const [loaded] = json(readFileSync(join(layout, 'manifest.json')))
  assert.equal(loaded.RepoTags, [archiveOptions.name])
  for (const [path, of] of [
    [loaded.Config, manifest.config],
    [loaded.Layers[0], manifest.layers[0]],
  ])
    assert.is(path, `blobs/${of.digest.replace(':', '/')}`)
})

test('the image for the other architecture has its Node, its loader and each library that these name', async () => {
  const other = ownArchitecture === 'arm64' ? 'amd64' : 'arm64'
  const folder = join(dir, other)
  await assembleRootfs(folder, other)
  // The machine number in the head of a program: 62 is x86-64, 183 is AArch64.
  const machine = other === 'arm64' ? 183 : 62
  const { loader = '', libraries } = linksOf(join(folder, imageNode))
  const files = globSync('lib*/**/*', { cwd: folder }).filter((path) => lstatSync(join(folder, path)).isFile())
  const names = files.map((path) => basename(path))
  assert.ok(files.includes(loader.slice(1)), loader)
  for (const path of [imageNode.slice(1), ...files]) {
    assert.is(readFileSync(join(folder, path)).readUInt16LE(18), machine, path)
    for (const name of linksOf(join(folder, path)).libraries) assert.ok(names.includes(name), `${path}: ${name}`)
  }
  assert.ok(libraries.includes('libstdc++.so.6'))
})

test.after(() => rmSync(dir, { recursive: true, force: true }))

test.run()
