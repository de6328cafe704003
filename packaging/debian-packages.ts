// The libraries that Node needs and the certificates of the authorities, from Debian's packages. Their versions are
// pinned, and nothing comes from this machine: every machine makes the same image, even for the other architecture.
import { execFileSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'

export type Architecture = 'amd64' | 'arm64'

/** A Debian package whose files are in the image. */
export type DebianPackage = { name: string; version: string; architecture: string; status: string; copyright: string }

/** Packages in the folder into which they were unpacked. */
export type Debian = { root: string; packages: DebianPackage[] }

const release = 'trixie'

/** Debian replaces these with safer versions. The build then uses the new ones and prints their names: pin them here. */
const pinned: Record<string, string> = {
  'ca-certificates': '20250419+deb13u1',
  libc6: '2.41-12+deb13u5',
  'libgcc-s1': '14.2.0-19',
  'libstdc++6': '14.2.0-19',
}

/** The package that contains the copyright of two others. */
const copyrightPackage = 'gcc-14-base'

const cache = join(import.meta.dirname, '..', 'node_modules', '.cache', 'eip-admission')
const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg'

/** Downloads the packages once and unpacks them. */
export function debianPackages(architecture: Architecture): Debian {
  const names = Object.entries(pinned).map(([name, version]) => `${name}_${version}`)
  const folder = join(cache, [release, architecture, ...names].join('-'))
  if (!existsSync(folder)) fill(folder, architecture)
  const root = join(folder, 'root')
  const files = globSync('*.deb', { cwd: folder }).filter((file) => !file.startsWith(copyrightPackage))
  return { root, packages: files.toSorted().map((file) => describe(join(folder, file), root)) }
}

function describe(file: string, root: string): DebianPackage {
  const status = run('dpkg-deb', ['--field', file])
  const field = (key: string) => new RegExp(`^${key}: (.*)$`, 'm').exec(status)?.[1] ?? ''
  return {
    name: field('Package'),
    version: field('Version'),
    architecture: field('Architecture'),
    status,
    copyright: readFileSync(join(root, 'usr/share/doc', field('Package'), 'copyright'), 'utf8'),
  }
}

function fill(folder: string, architecture: Architecture): void {
  mkdirSync(cache, { recursive: true })
  const staging = mkdtempSync(`${folder}.`)
  try {
    download(staging, architecture)
    const root = join(staging, 'root')
    for (const file of globSync('*.deb', { cwd: staging })) run('dpkg-deb', ['--extract', join(staging, file), root])
    rmSync(join(staging, 'apt'), { recursive: true })
    // Another process may have been faster; both have the same files.
    if (!existsSync(folder)) renameSync(staging, folder)
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
}

/** apt checks the signature of the release, and with it each package. */
function download(into: string, architecture: Architecture): void {
  const apt = aptIn(join(into, 'apt'), into, architecture)
  apt('update')
  for (const [name, version] of Object.entries(pinned)) {
    try {
      apt('download', `${name}=${version}`)
    } catch {
      process.stderr.write(`Debian no longer has ${name} ${version}: the image gets its newest, so pin that one here\n`)
      apt('download', name)
    }
  }
  apt('download', copyrightPackage)
}

/** apt with its own lists, because this machine's lists are for its own Debian and architecture. */
function aptIn(dir: string, cwd: string, architecture: Architecture): (...args: string[]) => void {
  for (const made of ['lists/partial', 'archives/partial']) mkdirSync(join(dir, made), { recursive: true })
  const { DEBIAN_MIRROR: mirror = 'http://deb.debian.org/debian' } = process.env
  writeFileSync(join(dir, 'sources.list'), `deb [signed-by=${keyring}] ${mirror} ${release} main\n`)
  writeFileSync(join(dir, 'status'), '')
  const options = {
    'Dir::Etc::sourcelist': join(dir, 'sources.list'),
    'Dir::Etc::sourceparts': '-',
    'Dir::State': dir,
    'Dir::State::status': join(dir, 'status'),
    'Dir::Cache': dir,
    'APT::Architecture': architecture,
    'APT::Architectures': architecture,
    'APT::Sandbox::User': 'root',
    'Debug::NoLocking': '1',
  }
  const flags = Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`])
  return (...args) => void run('apt-get', ['-qq', ...flags, ...args], cwd)
}

function run(program: string, args: string[], cwd?: string): string {
  try {
    return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], ...(cwd && { cwd }) })
  } catch (cause) {
    const { stderr = '' } = cause as { stderr?: string }
    throw new Error(
      `${program} ${args.at(-1)} failed: the image is made of Debian's packages, which needs apt-get, dpkg-deb and ${keyring} (package debian-archive-keyring). ${stderr}`,
      { cause },
    )
  }
}
