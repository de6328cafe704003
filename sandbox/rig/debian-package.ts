import { execFile } from 'node:child_process'
import { existsSync, globSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { cacheFolder } from '../cache-folder.ts'
import { isNamespaced } from './namespace.ts'

/** The folder that contains a Debian package, and the environment in which its programs find their libraries. */
export type DebianPackage = { folder: string; env: NodeJS.ProcessEnv }

const run = promisify(execFile)

/**
 * Returns a package of Debian. If the machine lacks its program (a path such as `usr/sbin/nft`), the package is downloaded
 * and unpacked into the cache once, without root.
 */
export async function debianPackage(name: string, program: string): Promise<DebianPackage> {
  if (existsSync(join('/', program))) return { folder: '/', env: {} }
  const folder = cacheFolder(name)
  if (!existsSync(folder)) await unpackInto(folder, name)
  const [libraries = ''] = globSync('usr/lib/*-linux-gnu*', { cwd: folder })
  return { folder, env: { LD_LIBRARY_PATH: join(folder, libraries) } }
}

async function unpackInto(folder: string, name: string): Promise<void> {
  if (isNamespaced())
    throw new Error(`${name} is missing, and this namespace has no network to download it: run \`make rig\` first`)
  const staging = `${folder}.${process.pid}`
  const packages = join(staging, 'packages')
  for (const made of ['packages/archives/partial', 'packages/lists/partial']) {
    mkdirSync(join(staging, made), { recursive: true })
  }
  try {
    await download(name, packages)
    for (const file of globSync('archives/*.deb', { cwd: packages })) {
      await run('dpkg', ['--extract', join(packages, file), staging])
    }
    rmSync(packages, { recursive: true })
    rmSync(folder, { recursive: true, force: true })
    renameSync(staging, folder)
  } catch (cause) {
    throw new Error(`Debian's package ${name} can be neither found nor downloaded: apt-get install ${name}`, { cause })
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
}

/** Downloads a package and its missing dependencies, with our own package lists if the machine's are absent or old. */
async function download(name: string, packages: string): Promise<void> {
  const apt = (...args: string[]) =>
    run('apt-get', [
      '-qq',
      '-o',
      'Debug::NoLocking=1',
      '-o',
      `Dir::Cache=${packages}`,
      '-o',
      'APT::Sandbox::User=root',
      ...args,
    ])
  const wanted = ['--yes', '--no-install-recommends', '--download-only', 'install', name]
  const ownLists = ['-o', `Dir::State::Lists=${join(packages, 'lists')}`]
  try {
    await apt(...wanted)
  } catch {
    await apt(...ownLists, 'update')
    await apt(...ownLists, ...wanted)
  }
}
