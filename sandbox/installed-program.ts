import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'

/** How a program that the machine may have prints its version, and which versions serve instead of a built one. */
export type VersionCheck = { args: string[]; pattern: RegExp; from: string; below?: string }

/** Returns the path of a program on this machine whose version fits; undefined if there is none. */
export async function installedProgram(name: string, check: VersionCheck): Promise<string | undefined> {
  const folders = (process.env.PATH ?? '').split(delimiter)
  const path = folders.map((folder) => join(folder, name)).find((file) => existsSync(file))
  return path !== undefined && fits(await versionOf(path, check), check) ? path : undefined
}

async function versionOf(path: string, { args, pattern }: VersionCheck): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)(path, args, { timeout: 10_000 })
    return pattern.exec(stdout)?.[1]
  } catch {
    // A program that cannot print its version is not used, whatever the reason.
    return undefined
  }
}

function fits(version: string | undefined, { from, below }: VersionCheck): boolean {
  if (version === undefined) return false
  const compare = (other: string) => version.localeCompare(other, 'en', { numeric: true })
  return compare(from) >= 0 && (below === undefined || compare(below) < 0)
}
