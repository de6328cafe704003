// Assembles the files of the image: Node with the libraries that it needs, the bundle, and nothing else. The Dockerfile
// and `make image` run this, and the tests run the program from what it makes.
import { chmodSync, cpSync, globSync, lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import process from 'node:process'
import { bundle } from './bundle.ts'
import { type Architecture, debianPackages } from './debian-packages.ts'
import { linksOf, stripped } from './elf.ts'
import { nodePackage } from './node-package.ts'
import { appFolder, imageNode } from './program.ts'
import { sbom } from './sbom.ts'

const root = join(import.meta.dirname, '..')

/** Authorities for those who have Node use them, with --use-openssl-ca. */
const authorities = 'etc/ssl/certs/ca-certificates.crt'

/** Pods mount their volumes below these. */
const emptyFolders = ['dev', 'proc', 'sys', 'run', 'var', 'etc/eip-admission', 'tmp']

const texts: Record<string, string> = {
  'etc/passwd': 'root:x:0:0:root:/:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/:/sbin/nologin\n',
  'etc/group': 'root:x:0:\nnonroot:x:65532:\n',
  // Names in /etc/hosts before names in DNS.
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
    // Where scanners of images look for the packages of an image without a package manager.
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

/** As Debian makes the file when it installs the package. */
function authoritiesOf(debian: string): string {
  const folder = join(debian, 'usr/share/ca-certificates')
  const files = globSync('**/*.crt', { cwd: folder }).toSorted()
  return files.map((file) => `${readFileSync(join(folder, file), 'utf8').trimEnd()}\n`).join('')
}

/** The umask of this machine, and that of the checkout, have no part in the image. */
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
