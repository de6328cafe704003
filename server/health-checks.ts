import type { CertSource } from '../certs/cert-source.ts'
import type { Service } from '../kube/objects.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { waitingReason } from '../ledger/want/load-balancing-off.ts'
import type { Base } from './base.ts'
import type { Check } from './listeners/health.ts'

/** The health checks, in their three kinds. */
export type Checks = { live: Check[]; ready: Check[]; details: Check[] }

/** A cache that has heard nothing from the API server for this long has lost its connection, and only a restart helps. */
const maxSilenceMs = 10 * 60_000

type Watched = { silentForMs(): number; hasSynced(): boolean }
type Reported = { problem(): string | undefined }

/** The components that the checks cover. */
export type Checked = {
  caches: { services: Watched & { list(): Service[] }; records: Watched }
  certs: Pick<CertSource, 'notReady'>
  ledger: { project: Reported; heartbeats: Pick<Ledger['heartbeats'], 'state'> }
  probe: Reported | undefined
  guardian: Reported | undefined
}

/** The checks of a process with webhooks or controllers. */
export function serveChecks(
  { reload, rights, vendor }: Pick<Base, 'reload' | 'rights'> & { vendor: Pick<Base['vendor'], 'policy'> },
  components: Checked,
): Checks {
  const { certs, ledger, probe, guardian } = components
  // The caches that reviews need. Nodes are left out, so that a process that cannot read them still answers reviews.
  const { services, records } = components.caches
  const caches = Object.entries({ services, records })
  return {
    live: caches.map(watchCheck),
    ready: [{ name: 'certificates', problem: () => certs.notReady() }, ...caches.map(syncedCheck)],
    details: [
      { name: 'settings', problem: () => reload?.problem() },
      { name: 'rights', problem: () => rights.problem() },
      { name: 'project', problem: () => ledger.project.problem() },
      { name: 'cluster-id', problem: () => foreignCluster(ledger) },
      { name: 'load-balancing', problem: () => waitingReason(services.list(), vendor.policy) },
      { name: 'admission', problem: () => probe?.problem() },
      { name: 'control-plane-address', problem: () => guardian?.problem() },
    ],
  }
}

/** The checks of a process that runs only the guardian. */
export function guardianChecks(
  { reload, rights }: Pick<Base, 'reload' | 'rights'>,
  guardian: Watched & Reported,
): Checks {
  return {
    live: [watchCheck(['nodes', guardian])],
    ready: [syncedCheck(['nodes', guardian])],
    details: [
      { name: 'settings', problem: () => reload?.problem() },
      { name: 'rights', problem: () => rights.problem() },
      { name: 'control-plane-address', problem: () => guardian.problem() },
    ],
  }
}

function watchCheck([name, cache]: [string, Watched]): Check {
  const problem = () => (cache.silentForMs() > maxSilenceMs ? 'no word from the API server for 10 minutes' : undefined)
  return { name: `watch-${name}`, problem }
}

function syncedCheck([name, cache]: [string, Watched]): Check {
  const problem = () => (cache.hasSynced() ? undefined : 'the first list has not arrived yet')
  return { name: `synced-${name}`, problem }
}

function foreignCluster({ heartbeats }: Checked['ledger']): string | undefined {
  const state = heartbeats.state()
  return state.kind === 'foreign' ? state.reason : undefined
}
