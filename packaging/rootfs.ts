// Assembles the files of the image: Node with the libraries that it needs, the bundle, and nothing else. The Dockerfile
// runs this, and the tests run the program from what it makes.
import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, globSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { bundle } from './bundle.ts'
import { debianPackages } from './debian-packages.ts'
import { appFolder, imageNode } from './program.ts'
import { sbom } from './sbom.ts'

const root = join(import.meta.dirname, '..')

/** Authorities for those who have Node use them, with --use-openssl-ca. */
const authorities = '/etc/ssl/certs/ca-certificates.crt'

/** Pods mount their volumes below these. */
const emptyFolders = ['dev', 'proc', 'sys', 'run', 'var', 'etc/eip-admission']

const texts: Record<string, string> = {
  'etc/passwd': 'root:x:0:0:root:/:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/:/sbin/nologin\n',
  'etc/group': 'root:x:0:\nnonroot:x:65532:\n',
  // Names in /etc/hosts before names in DNS.
  'etc/nsswitch.conf': 'hosts: files dns\n',
  'etc/os-release': 'ID=eip-admission\nNAME="eip-admission"\n',
}

/** Assembles the root filesystem of the image in a folder that does not exist yet. */
export async function assembleRootfs(into: string): Promise<void> {
  for (const folder of emptyFolders) mkdirSync(join(into, folder), { recursive: true })
  for (const [file, text] of Object.entries(texts)) writeFileSync(join(into, file), text)
  symlinkSync('/run', join(into, 'var/run'))
  mkdirSync(join(into, 'tmp'))
  chmodSync(join(into, 'tmp'), 0o1777)
  copy(authorities, into)
  const libraries = librariesOf(process.execPath)
  for (const library of libraries) copy(library, into)
  installNode(into)
  await bundle(join(into, appFolder))
  cpSync(join(root, 'LICENSE'), join(into, appFolder, 'LICENSE'))
  const packages = debianPackages([...libraries, authorities])
  for (const found of packages) {
    // Where scanners of images look for the packages of an image without a package manager.
    writeText(join(into, 'var/lib/dpkg/status.d', found.name), found.status)
    writeText(join(into, 'usr/share/doc', found.name, 'copyright'), found.copyright)
  }
  writeText(join(into, appFolder, 'sbom.cdx.json'), sbom(root, { bundle: join(into, appFolder), packages }))
}

/** Without its symbols, which only a debugger reads, Node is 18 MB smaller. */
function installNode(into: string): void {
  const path = join(into, imageNode)
  mkdirSync(dirname(path), { recursive: true })
  execFileSync('strip', ['--strip-all', '-o', path, process.execPath])
  const [licence] = globSync('{..,../share/doc/node*}/LICENSE', { cwd: dirname(realpathSync(process.execPath)) })
  if (licence === undefined) throw new Error('the licence of Node is not beside its program')
  writeFolderOf(join(into, 'usr/share/doc/node/LICENSE'))
  cpSync(join(dirname(realpathSync(process.execPath)), licence), join(into, 'usr/share/doc/node/LICENSE'))
}

/** The files of the libraries of a program, by the names under which its loader looks for them. */
function librariesOf(program: string): string[] {
  const output = execFileSync('ldd', [program], { encoding: 'utf8' })
  return [...output.matchAll(/(?:=> |^\s)(\/\S+) \(/gm)].map(([, path = '']) => path)
}

function copy(path: string, into: string): void {
  writeFolderOf(join(into, path))
  cpSync(realpathSync(path), join(into, path))
}

function writeText(path: string, text: string): void {
  writeFolderOf(path)
  writeFileSync(path, text)
}

function writeFolderOf(path: string): void {
  mkdirSync(dirname(path), { recursive: true })
}
