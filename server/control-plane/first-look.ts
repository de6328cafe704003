import type { KnownAddress } from '../../controllers/control-plane/known-address.ts'
import { systemClock as clock } from '../../kube/clock.ts'
import { backoffMs } from '../../lib/backoff.ts'
import type { Base } from '../base.ts'
import { ownPathProblem } from './own-path.ts'

type Deps = Pick<Base, 'credentials' | 'settings' | 'log'> & { known: KnownAddress }

/**
 * Reads the cloud for the first time, again after each failure. Throws if a process that only guards the address would
 * talk through it.
 */
export async function firstLook({ known, credentials, settings, log }: Deps, signal: AbortSignal): Promise<void> {
  for (let failures = 1; !signal.aborted; failures++) {
    try {
      await known.find(signal)
      break
    } catch (error) {
      if (signal.aborted) return
      log.warn({ error: error instanceof Error ? error.message : String(error) }, 'waiting for the cloud')
      await clock.sleep(backoffMs(failures, { firstMs: 500, maxMs: 10_000 }), signal)
    }
  }
  const address = known.current()?.address
  const problem = address === undefined ? undefined : await ownPathProblem(credentials, address)
  if (problem === undefined) return
  if (settings.process.only === 'control-plane') throw new Error(problem)
  log.error({ address, problem }, 'the control-plane address cannot be guarded well')
}
