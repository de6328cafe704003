import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DebianPackage } from './debian-packages.ts'

type Component = { 'bom-ref': string; name: string; version: string; [field: string]: unknown }
type Document = {
  components: Component[]
  dependencies: { ref: string; dependsOn: string[] }[]
  [field: string]: unknown
}

/**
 * A bill of materials in CycloneDX of what the image has. It lists Node, the Debian packages beside it, and the npm
 * packages whose code is in the bundle. The same image has the same document.
 */
export function sbom(root: string, image: { bundle: string; packages: DebianPackage[]; node: string }): string {
  const document = npmDocument(root)
  const bundled = JSON.parse(readFileSync(join(image.bundle, 'packages.json'), 'utf8')) as Component[]
  const isBundled = ({ name, version }: Component) =>
    bundled.some((found) => found.name === name && found.version === version)
  const npm = document.components.filter(isBundled).map(withoutScope)
  if (npm.length !== bundled.length) throw new Error(`npm names ${npm.length} of ${bundled.length} bundled packages`)
  const components = [...npm, nodeComponent(image.node), ...image.packages.map(debianComponent)]
  const own = document.dependencies[0]?.ref ?? ''
  const refs = components.map((component) => component['bom-ref'])
  const dependencies = document.dependencies
    .filter(({ ref }) => ref === own || refs.includes(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((name) => refs.includes(name)) }))
  return withSerial({ ...document, components, dependencies })
}

/** To npm all our packages are for development, because the npm package has no dependencies: the bundle contains them. */
function withoutScope({ properties: _properties, scope: _scope, ...component }: Component): Component {
  return component
}

function npmDocument(root: string): Document {
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--sbom-type', 'application']
  return JSON.parse(execFileSync('npm', args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 })) as Document
}

function nodeComponent(version: string): Component {
  const purl = `pkg:generic/nodejs@${version}`
  return { 'bom-ref': purl, type: 'platform', name: 'nodejs', version, purl, ...licence('MIT') }
}

function debianComponent({ name, version, architecture }: DebianPackage): Component {
  const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}`
  return { 'bom-ref': purl, type: 'library', name, version, purl }
}

function licence(id: string) {
  return { licenses: [{ license: { id } }] }
}

/** npm writes a random serial number and the time; ours depends on nothing but the content. */
function withSerial({ serialNumber: _random, metadata, ...document }: Document): string {
  const { timestamp: _now, component, ...facts } = metadata as { component: Component; [field: string]: unknown }
  // npm names it after the folder of the checkout.
  const name = component['bom-ref'].replace(/@[^@]*$/, '')
  const content = { ...document, metadata: { ...facts, component: { ...component, name } } }
  const hex = createHash('sha256').update(JSON.stringify(content)).digest('hex')
  const uuid = hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-4$3-8$4-$5')
  const { $schema, bomFormat, specVersion, ...rest } = content as Record<string, unknown>
  return `${JSON.stringify({ $schema, bomFormat, specVersion, serialNumber: `urn:uuid:${uuid}`, ...rest }, null, 2)}\n`
}
