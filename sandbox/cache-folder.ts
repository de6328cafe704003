import { homedir } from 'node:os'
import { join } from 'node:path'

/** Where something that is made once for this machine is kept. */
export function cacheFolder(...names: string[]): string {
  return join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'eip-admission', ...names)
}
