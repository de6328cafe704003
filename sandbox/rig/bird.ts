// Finds BIRD, the router of the rig: an installed one, or Debian's package unpacked into the cache without root.
import { execFile } from 'node:child_process'
import { existsSync, globSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { cacheFolder } from '../cache-folder.ts'
import { isNamespaced } from './namespace.ts'

/** The program BIRD 2 and the environment that it needs. */
export type Bird = { program: string; env: NodeJS.ProcessEnv }

const run = promisify(execFile)

/** Finds BIRD: the program that the variable BIRD names, an installed one, or Debian's package bird2. */
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
  // Debian's package bird is BIRD 1, which has another configuration language.
  const { stdout, stderr } = await run(program, ['--version'])
  return /BIRD version [23]/.test(stdout + stderr) ? program : undefined
}

async function unpackInto(folder: string): Promise<void> {
  if (isNamespaced())
    throw new Error('BIRD 2 is missing, and this namespace has no network to download it: run `make rig` first')
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
    throw new Error(
      'BIRD 2 is missing: install it (on Debian: apt-get install bird2), or set the variable BIRD to its path',
      {
        cause,
      },
    )
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
}

/** Downloads bird2 and its missing dependencies; with our own package lists where the machine's are absent or old. */
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
