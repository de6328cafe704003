import { homedir } from 'node:os'
import { join } from 'node:path'

/** Returns the path of a folder for files that are built or downloaded once on this machine. */
export function cacheFolder(...names: string[]): string {
  return join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'eip-admission', ...names)
}
