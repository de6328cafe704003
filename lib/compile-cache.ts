import { lstatSync, mkdirSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * The folder for compiled code, created if absent; undefined if another user could write to it. Node runs the code in
 * it without a check, so another user's folder would run that user's code.
 */
export function privateCacheFolder(parent: string, uid: number): string | undefined {
  let folder: string
  try {
    folder = join(realpathSync(parent), `eip-admission-${uid}`)
    mkdirSync(folder, { mode: 0o700, recursive: true })
  } catch {
    // Without a cache, the start takes slightly longer.
    return undefined
  }
  return [folder, ...ancestorsOf(folder)].every((path, n) => isSafe(path, { uid, isOurs: n === 0 }))
    ? folder
    : undefined
}

function ancestorsOf(path: string): string[] {
  const parent = dirname(path)
  return parent === path ? [] : [parent, ...ancestorsOf(parent)]
}

const sticky = 0o1000
const groupOrOthersWrite = 0o022
const groupOrOthers = 0o077

/** No other user may enter our folder, or replace it or a folder above it. */
function isSafe(path: string, { uid, isOurs }: { uid: number; isOurs: boolean }): boolean {
  const facts = lstatSync(path, { throwIfNoEntry: false })
  if (!facts?.isDirectory()) return false
  if (isOurs) return facts.uid === uid && (facts.mode & groupOrOthers) === 0
  if (facts.uid !== uid && facts.uid !== 0) return false
  // In a sticky folder such as /tmp only the owner of an entry may replace it.
  return (facts.mode & groupOrOthersWrite) === 0 || (facts.mode & sticky) !== 0
}
