// Builds the programs of a Go module, whose version a folder here pins, once into the cache of this machine.
import { createHash } from 'node:crypto'
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { cacheFolder } from './cache-folder.ts'
import { showProgress } from './progress.ts'

export type GoModule = {
  /** What the progress line calls it, and its folder in the cache. */
  name: string
  version: string
  /** The folder with go.mod and go.sum. */
  dir: string
  /** Each program, the package that it is built from, and the name that `go build` gives it. */
  programs: { name: string; package: string; built: string }[]
  flags: string[]
  /** A folder whose programs are used instead of building them. */
  assets?: string | undefined
  /** About how long the build takes, in words. */
  takes: string
  /** Adds more files to the folder after the programs are built. */
  add?: (folder: string) => Promise<void>
}

/** Returns the folder with the programs of a module, and builds those that are missing: minutes the first time. */
export async function goPrograms(module: GoModule): Promise<string> {
  const { name, programs, assets } = module
  const folder = cacheFolder(name, versionKey(module))
  if (programs.every((program) => existsSync(join(folder, program.name)))) return folder

  const given = programs.filter((program) => assets !== undefined && existsSync(join(assets, program.name)))
  const missing = programs.filter((program) => !given.includes(program))
  const staging = `${folder}.${process.pid}`
  mkdirSync(staging, { recursive: true })
  try {
    for (const program of given) symlinkSync(join(assets ?? '', program.name), join(staging, program.name))
    if (missing.length > 0) await build({ ...module, programs: missing }, staging)
    await module.add?.(staging)
    rmSync(folder, { recursive: true, force: true })
    renameSync(staging, folder)
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
  return folder
}

function versionKey({ version, dir, flags, assets }: GoModule): string {
  const hash = createHash('sha256').update(JSON.stringify([flags, assets, process.platform, process.arch]))
  for (const file of ['go.mod', 'go.sum']) hash.update(readFileSync(join(dir, file)))
  return `${version}-${hash.digest('hex').slice(0, 12)}`
}

async function build({ name, version, dir, programs, flags, takes }: GoModule, folder: string): Promise<void> {
  const progress = showProgress(`Building ${name} ${version}; needed only once, takes ${takes}`)
  let packages = 0
  let errors = ''
  const go = spawn('go', ['build', '-v', ...flags, '-o', `${folder}/`, ...programs.map((program) => program.package)], {
    cwd: dir,
    env: { ...process.env, CGO_ENABLED: '0' },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  go.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-4000)
    packages += text.split('\n').length - 1
    progress.update(`${packages} packages compiled`)
  })
  const code = await new Promise<number | null>((resolve, reject) => {
    go.on('error', (cause) =>
      reject(new Error(`cannot start go, which builds ${name}: install Go from https://go.dev/dl`, { cause })),
    )
    go.on('close', resolve)
  })
  progress.done(code === 0 ? `${packages} packages compiled` : 'the build failed')
  if (code !== 0) throw new Error(`go build ended with ${code}:\n${errors}`)
  for (const program of programs) renameSync(join(folder, program.built), join(folder, program.name))
}
