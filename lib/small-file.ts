import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'

/** The maximum size of a Kubernetes Secret or ConfigMap. */
const largestBytes = 2 ** 20

const fileFaults: Record<string, string> = {
  ENOENT: 'does not exist',
  EACCES: 'cannot be read: this process has no permission',
  EISDIR: 'is a directory',
}

class UnfitFile extends Error {}

/**
 * Reads a text file that a person names. Throws an error for `fileFault` unless it is a regular file of at most 1 MiB.
 * Reading a pipe or a disk would block the process.
 */
export function readSmallFile(path: string): string {
  // Without this flag, opening a pipe waits until another program writes to it.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const stat = fstatSync(file)
    if (!stat.isFile() && !stat.isDirectory()) throw new UnfitFile('is not a regular file')
    if (stat.size > largestBytes) throw new UnfitFile(`has ${stat.size} bytes, more than 1 MiB`)
    return readFileSync(file, 'utf8')
  } finally {
    closeSync(file)
  }
}

/** Why a file could not be read, worded to follow the file's name. */
export function fileFault(error: unknown): string {
  if (error instanceof UnfitFile) return error.message
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
  return fileFaults[code] ?? `cannot be read (${code})`
}
