// Gets programs from an archive that their project has released, so that nobody has to wait for a compiler. The archive
// is used only if it has the checksum that is pinned here, wherever it came from.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createWriteStream, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'

export type Archive = {
  url: string
  /** Its SHA-512 in hexadecimal. */
  sha512: string
  /** The folder in the archive that holds the programs. */
  folder: string
  programs: readonly string[]
}

export type DownloadOptions = {
  signal?: AbortSignal | undefined
  /** The download fails when the server sends nothing for this long. */
  stallMs?: number
}

/** The programs are in the folder, or the reason why the archive was not available. */
export type Downloaded = { reason?: undefined } | { reason: string }

/**
 * Downloads the archive and puts its programs into the folder. Throws if the archive is not the pinned one. Nothing of
 * it is unpacked then, and a person should look at it first.
 */
export async function downloadPrograms(
  { url, sha512, folder, programs }: Archive,
  to: string,
  options: DownloadOptions = {},
): Promise<Downloaded> {
  const file = join(to, 'archive.tar.gz')
  try {
    const found = await downloadFile(url, file, options)
    if (typeof found !== 'string') return found
    if (found !== sha512) throw new Error(wrongSumText(url, sha512, found))
    return await unpack(file, { folder, programs, to })
  } finally {
    rmSync(file, { force: true })
    rmSync(join(to, folder.split('/')[0] ?? folder), { recursive: true, force: true })
  }
}

/** A machine without tar or gzip can still compile the programs. */
async function unpack(
  file: string,
  { folder, programs, to }: Pick<Archive, 'folder' | 'programs'> & { to: string },
): Promise<Downloaded> {
  try {
    await promisify(execFile)('tar', ['-xzf', file, '-C', to, folder])
  } catch (error) {
    const [firstLine] = reasonOf(error).split('\n')
    return { reason: `tar cannot unpack it: ${firstLine}` }
  }
  for (const program of programs) renameSync(join(to, folder, program), join(to, program))
  return {}
}

/** Writes the file and returns its sum. */
async function downloadFile(
  url: string,
  file: string,
  { signal, stallMs = 5_000 }: DownloadOptions,
): Promise<string | { reason: string }> {
  const stalled = new AbortController()
  const giveUp = () => stalled.abort(new Error(`no data for ${stallMs / 1000} s`))
  let timer = setTimeout(giveUp, stallMs)
  const hash = createHash('sha512')
  const watched = new Transform({
    transform(part: Buffer, _encoding, done) {
      clearTimeout(timer)
      timer = setTimeout(giveUp, stallMs)
      hash.update(part)
      done(undefined, part)
    },
  })
  const either = AbortSignal.any([stalled.signal, ...(signal ? [signal] : [])])
  try {
    const answer = await fetch(url, { signal: either })
    if (!answer.ok || !answer.body) return { reason: `it answers ${answer.status}` }
    await pipeline(Readable.fromWeb(answer.body), watched, createWriteStream(file), { signal: either })
    return hash.digest('hex')
  } catch (error) {
    signal?.throwIfAborted()
    return { reason: reasonOf(stalled.signal.aborted ? stalled.signal.reason : error) }
  } finally {
    clearTimeout(timer)
  }
}

/** `fetch failed` says nothing; its cause does. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error && error.cause.message !== '' ? error.cause.message : error.message
}

function wrongSumText(url: string, expected: string, found: string): string {
  return (
    `${url} is not the file that this checkout pins: its SHA-512 is ${found}, not ${expected}. Nothing of it was unpacked. ` +
    'Look what answers there, such as a proxy with a page of its own; EIP_ADMISSION_BUILD=compile builds the programs instead.'
  )
}
