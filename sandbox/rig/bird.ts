// BIRD, the router of the rig: the machine's own, or Debian's package unpacked into the cache, for which nobody is root.
import { execFile } from 'node:child_process'
import { existsSync, globSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { cacheFolder } from '../cache-folder.ts'
import { isNamespaced } from './namespace.ts'

/** How BIRD 2 is started here. */
export type Bird = { program: string; env: NodeJS.ProcessEnv }

const run = promisify(execFile)

/** Finds BIRD, or gets it: installed, as BIRD names it, or from Debian's package bird2. */
export async function findBird(): Promise<Bird> {
  const given = process.env.BIRD
  if (given !== undefined) return { program: given, env: {} }
  const installed = await findInstalled()
  if (installed !== undefined) return { program: installed, env: {} }
  const folder = cacheFolder('bird2')
  if (!existsSync(folder)) await unpackInto(folder)
  const [library = ''] = globSync('usr/lib/**/libssh*.so.*', { cwd: folder })
  return { program: join(folder, 'usr/sbin/bird'), env: { LD_LIBRARY_PATH: join(folder, dirname(library)) } }
}

async function findInstalled(): Promise<string | undefined> {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin']
  const program = folders.map((folder) => join(folder, 'bird')).find((file) => existsSync(file))
  if (program === undefined) return undefined
  // Debian's package bird is BIRD 1, which is configured in another language.
  const { stdout, stderr } = await run(program, ['--version'])
  return /BIRD version [23]/.test(stdout + stderr) ? program : undefined
}

async function unpackInto(folder: string): Promise<void> {
  if (isNamespaced())
    throw new Error('BIRD is not there, and a namespace has no network to get it by: `make rig` first')
  const staging = `${folder}.${process.pid}`
  const packages = join(staging, 'packages')
  for (const made of ['packages/archives/partial', 'packages/lists/partial']) {
    mkdirSync(join(staging, made), { recursive: true })
  }
  try {
    await download(packages)
    for (const file of globSync('archives/*.deb', { cwd: packages })) {
      await run('dpkg', ['--extract', join(packages, file), staging])
    }
    rmSync(packages, { recursive: true })
    rmSync(folder, { recursive: true, force: true })
    renameSync(staging, folder)
  } catch (cause) {
    throw new Error('BIRD 2 is needed: install it (on Debian apt-get install bird2), or say in BIRD where it is', {
      cause,
    })
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
}

/** bird2 and what it needs that this machine lacks; from lists of our own where the machine has none, or old ones. */
async function download(packages: string): Promise<void> {
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
  const wanted = ['--yes', '--no-install-recommends', '--download-only', 'install', 'bird2']
  const ownLists = ['-o', `Dir::State::Lists=${join(packages, 'lists')}`]
  try {
    await apt(...wanted)
  } catch {
    await apt(...ownLists, 'update')
    await apt(...ownLists, ...wanted)
  }
}
