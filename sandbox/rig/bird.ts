// Finds BIRD, the router of the rig: an installed one, or Debian's package unpacked into the cache without root.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { debianPackage } from './debian-package.ts'

/** The program BIRD 2 and the environment that it needs. */
export type Bird = { program: string; env: NodeJS.ProcessEnv }

/** Finds BIRD: the program that the variable BIRD names, an installed one, or Debian's package bird2. */
export async function findBird(): Promise<Bird> {
  const given = process.env.BIRD
  if (given !== undefined) return { program: given, env: {} }
  const installed = await findInstalled()
  if (installed !== undefined) return { program: installed, env: {} }
  // If the machine has BIRD 1 at that path, BIRD 2 is still needed.
  const { folder, env } = await debianPackage('bird2', 'usr/share/doc/bird2')
  return { program: join(folder, 'usr/sbin/bird'), env }
}

async function findInstalled(): Promise<string | undefined> {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin']
  const program = folders.map((folder) => join(folder, 'bird')).find((file) => existsSync(file))
  if (program === undefined) return undefined
  // Debian's package bird is BIRD 1, which has another configuration language.
  const { stdout, stderr } = await promisify(execFile)(program, ['--version'])
  return /BIRD version [23]/.test(stdout + stderr) ? program : undefined
}
