// Builds the programs of a Go module once, into the machine's cache. A folder here pins the module's version.
import { createHash } from 'node:crypto'
import { existsSync, lstatSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { cacheFolder } from './cache-folder.ts'
import { exclusively } from './exclusive.ts'
import { countPackages, goBuild, remainingText } from './go-build.ts'
import { type VersionCheck, installedProgram } from './installed-program.ts'
import { type Progress, showProgress } from './progress.ts'
import { type Archive, downloadPrograms } from './released-programs.ts'

/** A program, the package that it is built from, and the name that `go build` gives it. */
export type GoProgram = {
  name: string
  package: string
  built: string
  /** The versions of an installed program that are used instead. */
  installed?: VersionCheck
}

export type GoModule = {
  /** The name in the progress line, and of the folder in the cache. */
  name: string
  version: string
  /** The folder with go.mod and go.sum. */
  dir: string
  programs: GoProgram[]
  flags: string[]
  /** A folder whose programs are used instead of building them. */
  assets?: string | undefined
  /** An archive whose programs are downloaded instead of building them, unless EIP_ADMISSION_BUILD is `compile`. */
  archive?: Archive | undefined
  /** About how long the build takes, in words. */
  takes: string
  /** Adds more files to the folder after the programs are built. */
  add?: (folder: string) => Promise<void>
}

export type BuildOptions = {
  /** Where the progress is shown; the caller ends it. By default the build has a line of its own. */
  progress?: Progress
  /** Ends the build. */
  signal?: AbortSignal
}

/**
 * Returns the folder with the programs of a module, and builds those that are missing: minutes the first time. If
 * another process is already building them, waits for it.
 */
export async function goPrograms(module: GoModule, options: BuildOptions = {}): Promise<string> {
  const folder = cacheFolder(module.name, versionKey(module))
  const isComplete = () => missingIn(folder, module).length === 0
  if (isComplete()) return folder
  const { name, version } = module
  const { signal, progress } = options
  let line: Progress | undefined
  const onWait = (pid: string) => {
    if (progress) progress.update(`process ${pid} builds ${name} ${version}; waiting for it`)
    else line ??= showProgress(`Process ${pid} builds ${name} ${version}; waiting for it`)
  }
  const work = async () => {
    line?.done()
    // The process that we waited for has built them, unless it was killed.
    if (!isComplete()) await buildInto(folder, module, options)
  }
  await exclusively(folder, work, { signal, onWait }).finally(() => line?.done())
  return folder
}

function missingIn(folder: string, { programs }: GoModule): GoProgram[] {
  return programs.filter((program) => !existsSync(join(folder, program.name)))
}

async function buildInto(folder: string, module: GoModule, options: BuildOptions): Promise<void> {
  const missing = missingIn(folder, module)
  const staging = `${folder}.${process.pid}`
  mkdirSync(staging, { recursive: true })
  try {
    const lacking = await linkGiven(missing, { staging, assets: module.assets })
    const toBuild = await downloadReleased(lacking, { staging, archive: module.archive, ...options })
    if (toBuild.length > 0) await build({ ...module, programs: toBuild }, staging, options)
    await module.add?.(staging)
    moveInto(folder, staging)
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
}

/** Links to the programs that the machine has in a version that fits, and returns the others. */
async function linkGiven(
  programs: GoProgram[],
  { staging, assets }: { staging: string; assets: string | undefined },
): Promise<GoProgram[]> {
  const toBuild: GoProgram[] = []
  for (const program of programs) {
    const { name, installed } = program
    const asset = assets === undefined ? '' : join(assets, name)
    const given = existsSync(asset) ? asset : installed && (await installedProgram(name, installed))
    if (given === undefined) toBuild.push(program)
    else symlinkSync(given, join(staging, name))
  }
  return toBuild
}

/** Downloads the programs that an archive has, and returns the others; all of them if the archive cannot be reached. */
async function downloadReleased(
  programs: GoProgram[],
  { staging, archive, progress, signal }: { staging: string; archive: Archive | undefined } & BuildOptions,
): Promise<GoProgram[]> {
  const wanted = programs.filter(({ name }) => archive?.programs.includes(name)).map(({ name }) => name)
  if (!archive || wanted.length === 0 || isCompileForced()) return programs
  const { host } = new URL(archive.url)
  const line = progress ?? showProgress(`Downloading ${wanted.join(', ')} from ${host}`)
  const end = (text: string) => (progress ? progress.update(text) : line.done(text))
  const { reason } = await downloadPrograms({ ...archive, programs: wanted }, staging, { signal }).catch((error) => {
    end('it is not used')
    throw error
  })
  end(reason === undefined ? 'its SHA-512 is the pinned one' : `not to be had (${reason}), so they are compiled`)
  return reason === undefined ? programs.filter(({ name }) => !wanted.includes(name)) : programs
}

function isCompileForced(): boolean {
  const { EIP_ADMISSION_BUILD: how = '' } = process.env
  if (how !== '' && how !== 'compile')
    throw new Error(`EIP_ADMISSION_BUILD=${how}: it can only be compile, or absent to download what is released`)
  return how === 'compile'
}

/** Moves the programs one by one, so that the folder never lacks a program that it had: another process may run it. */
function moveInto(folder: string, staging: string): void {
  mkdirSync(folder, { recursive: true })
  for (const name of readdirSync(staging)) {
    const to = join(folder, name)
    if (existsSync(to) && lstatSync(to).isDirectory()) rmSync(to, { recursive: true })
    renameSync(join(staging, name), to)
  }
}

function versionKey({ version, dir, flags, assets, archive }: GoModule): string {
  const compiled = archive && isCompileForced() ? ['compiled'] : []
  const hash = createHash('sha256')
  hash.update(JSON.stringify([flags, assets, process.platform, process.arch, ...compiled]))
  const sources = readdirSync(dir).filter((file) => file.endsWith('.go'))
  for (const file of ['go.mod', 'go.sum', ...sources.toSorted()]) hash.update(readFileSync(join(dir, file)))
  return `${version}-${hash.digest('hex').slice(0, 12)}`
}

async function build(module: GoModule, folder: string, { signal, progress }: BuildOptions): Promise<void> {
  const { name, version, dir, programs, flags, takes } = module
  const shown = progress ?? showProgress(`Building ${name} ${version}; needed only once, takes ${takes}`)
  const packages = programs.map((program) => program.package)
  let compiled = 0
  const finish = (text: string) => (progress ? progress.update(text) : shown.done(text))
  try {
    shown.update('downloading the source')
    const total = await countPackages([...flags, ...packages], { dir, signal })
    const startedMs = performance.now()
    const onPackages = (count: number) => {
      compiled += count
      const remaining = remainingText(performance.now() - startedMs, compiled / total)
      shown.update(`${name}: ${compiled} of ${total} packages compiled${remaining}`, compiled / total)
    }
    await goBuild([...flags, '-o', `${folder}/`, ...packages], { dir, signal, onPackages })
  } catch (error) {
    finish('the build ended early')
    throw error
  }
  finish(`${compiled} packages compiled`)
  for (const program of programs) renameSync(join(folder, program.built), join(folder, program.name))
}
