import { CloudError } from '../ports/cloud.ts'
import type { VendorHttp } from '../http/client.ts'
import { type Account, pathOf, readList } from './account.ts'
import { isRefused } from '../ports/vendor-errors.ts'
import type { TagRequest } from './tags.ts'

/** The tag names of the account: resources accept no other. */
export type TagNames = {
  /** Executes a write with these tags, after creating the names that the account lacks. */
  before<T>(tags: readonly TagRequest[], write: () => Promise<T>, signal: AbortSignal): Promise<T>
}

/** The tag names of an account, read when a write needs one. */
export function tagNamesOf({ http }: Pick<Account, 'http'>): TagNames {
  const known = new Set<string>()

  /** Creates the missing names; returns whether there were any. */
  const ensure = async (tags: readonly TagRequest[], signal: AbortSignal): Promise<boolean> => {
    const unknown = () => tags.map(({ name }) => name).filter((name) => !known.has(name))
    if (unknown().length === 0) return false
    const listed = await readList(http, { name: 'tags', method: 'GET', path: pathOf.tags }, signal)
    for (const { name } of listed) if (typeof name === 'string') known.add(name)
    const missing = unknown()
    for (const name of missing) {
      await createName(http, name, signal)
      known.add(name)
    }
    return missing.length > 0
  }
  return {
    async before(tags, write, signal) {
      await ensure(tags, signal)
      try {
        return await write()
      } catch (error) {
        // A person may have deleted a name since. The API refused the write, so this is not a blind repetition.
        if (!isRefused(error, ['invalid'])) throw error
        known.clear()
        if (!(await ensure(tags, signal))) throw error
        return write()
      }
    },
  }
}

/** An existing name counts as success: another cluster or replica was faster. */
async function createName(http: VendorHttp, name: string, signal: AbortSignal): Promise<void> {
  const body = {
    name,
    isBillingTag: false,
    description: 'Written by eip-admission, which recognizes its blocks by it.',
  }
  try {
    await http.call({ name: 'create-tag', method: 'POST', path: pathOf.tags, body, accept: [409] }, signal)
  } catch (error) {
    if (!(error instanceof CloudError)) throw error
    // Whatever happened to the name, the write that needs it was not sent.
    const { message, fault, retryAfterMs } = error
    throw new CloudError(message, { fault, outcome: 'nothing', retryAfterMs, cause: error })
  }
}
