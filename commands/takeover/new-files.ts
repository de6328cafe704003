import { rmSync, writeFileSync } from 'node:fs'

/** A file that a flag names. `mode`: who may read it, if not everybody. */
export type NewFile = { flag: string; path: string; text: string; mode?: number }

/**
 * Writes new files: all of them, or none. An old one may hold what a person has changed, be readable by others, or be a
 * link to another place.
 */
export function writeNewFiles(files: readonly NewFile[]): void {
  const written: string[] = []
  for (const { flag, path, text, mode } of files) {
    try {
      writeFileSync(path, text, { ...(mode !== undefined && { mode }), flag: 'wx' })
    } catch (error) {
      // A write that failed midway left a part of the text.
      if (!isThere(error)) rmSync(path, { force: true })
      for (const one of written) rmSync(one)
      throw new Error(`${flag}=${path}: ${faultOf(error)}; name a file that does not exist yet. Nothing was written`, {
        cause: error,
      })
    }
    written.push(path)
  }
}

function isThere(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EEXIST'
}

function faultOf(error: unknown): string {
  if (isThere(error)) return 'exists already, and may hold your changes'
  return `cannot be written (${error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'})`
}
