import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { archive } from '../../packaging/image.ts'
import { ownArchitecture } from '../../packaging/rootfs.ts'
import { webImage } from '../cluster/programs.ts'
import { nodePrograms } from '../node/build.ts'
import { debianPackage } from '../rig/debian-package.ts'

/** Writes the image of the tests' pods: agnhost, and the commands that tests run in them, a shell, wget, nc and curl. */
export async function writeTestImage(file: string): Promise<void> {
  const programs = {
    agnhost: { program: join(await nodePrograms(), 'agnhost') },
    'bin/sh': { program: '/bin/sh' },
    'bin/curl': { program: execFileSync('sh', ['-c', 'command -v curl'], { encoding: 'utf8' }).trim() },
    'bin/wget': await debianProgram('wget', 'wget'),
    'bin/nc': await debianProgram('netcat-openbsd', 'nc.openbsd'),
  }
  const staging = mkdtempSync(join(tmpdir(), 'eip-admission-image-'))
  try {
    // Any user may read it, unlike the folder around it.
    const root = join(staging, 'root')
    for (const made of ['tmp', 'bin', 'etc']) mkdirSync(join(root, made), { recursive: true })
    for (const [path, program] of Object.entries(programs)) install(program, join(root, path), root)
    // Tests expect the wget of agnhost's own image, which tries once.
    writeFileSync(join(root, 'etc/wgetrc'), 'tries = 1\n')
    const config = { Entrypoint: ['/agnhost'], Cmd: ['pause'], WorkingDir: '/', Env: ['PATH=/bin:/'] }
    archive(root, file, { architecture: ownArchitecture, committedSeconds: 0, config, name: webImage })
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
}

/** A program, and the environment in which it finds its libraries. */
type Program = { program: string; env?: NodeJS.ProcessEnv }

async function debianProgram(name: string, program: string): Promise<Program> {
  const { folder, env } = await debianPackage(name, `usr/bin/${program}`)
  const [found = ''] = globSync(`{usr/,}bin/${program}`, { cwd: folder })
  return { program: join(folder, found), env }
}

/** Copies a program with its libraries, and their loader to where the program names it; a static one has none. */
function install({ program, env }: Program, path: string, root: string): void {
  copyFileSync(program, path)
  const { stdout } = spawnSync('ldd', [program], { encoding: 'utf8', env: { ...process.env, ...env } })
  for (const library of stdout.match(/\/\S+/g)?.filter((name) => name.includes('.so')) ?? []) {
    const name = basename(library)
    const to = name.startsWith('ld-') ? library : join('/lib', name)
    mkdirSync(join(root, dirname(to)), { recursive: true })
    copyFileSync(library, join(root, to))
  }
}
