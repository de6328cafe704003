import { createHash, timingSafeEqual } from 'node:crypto'
import type { Log } from '../kube/log.ts'
import { fileFault, readSmallFile } from '../lib/small-file.ts'

/** The token in a file, or the problem of the file. Never quote the token. */
export type TokenFile = { token: string; wrong?: never } | { token?: never; wrong: string }

/** A shorter token could be guessed. */
export const leastLength = 16

/** Reads a file that contains a token and perhaps a line break. */
export function readToken(path: string): TokenFile {
  let text: string
  try {
    text = readSmallFile(path).trim()
  } catch (error) {
    return { wrong: fileFault(error) }
  }
  if (!/^[\x21-\x7e]*$/.test(text)) return { wrong: 'holds more than one line of printable ASCII without blanks' }
  return text.length < leastLength ? { wrong: `holds fewer than ${leastLength} characters` } : { token: text }
}

/** Whether a text is the token in the file. */
export type TokenCheck = (given: string) => boolean

const checkMs = 3_000

/** Compares with the token of the file, read at most seconds ago. A file that is damaged later changes nothing. */
export function tokenCheck({ path, log, now }: { path: string; log: Log; now: () => number }): TokenCheck {
  let expected: Buffer | undefined
  let readAtMs = -Infinity
  let warned: string | undefined
  const read = () => {
    readAtMs = now()
    const { token, wrong } = readToken(path)
    if (wrong !== undefined && wrong !== warned)
      log.warn({ file: path, wrong }, 'token of the status page stays as it was')
    warned = wrong
    if (token !== undefined) expected = digest(token)
  }
  read()
  return (given) => {
    if (now() - readAtMs > checkMs) read()
    // All digests have the same length, so the comparison reveals nothing about the token, not even its length.
    return expected !== undefined && timingSafeEqual(expected, digest(given))
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
