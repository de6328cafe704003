import { runController } from '../../controllers/controller.ts'
import { type AvailableAddressDeps, availableAddress } from '../../controllers/available/available-address.ts'
import { availableSteps } from '../../controllers/available/available-steps.ts'
import { queue } from '../../kube/queue.ts'
import type { ElasticIP } from '../../ledger/record/elastic-ip.ts'
import { provisionedCheck } from '../../ledger/available/provisioned-check.ts'
import { isRelevantChange } from '../../ledger/record/relevant-change.ts'
import { isSource } from '../../ledger/record/source.ts'
import type { Dependencies } from '../dependencies.ts'
import { type Controller, said } from './controller.ts'

/** A few at a time: one that waits for the cloud must not keep the others from their Services. */
const concurrency = 4

/** Keeps what is in stock true, whoever put it there. */
export function stock(deps: Dependencies): Controller {
  const { ledger, caches, events, log, settings } = deps
  const { sweepIntervalMs: everyMs } = settings.cloud.settings
  const keys = queue({ concurrency, firstMs: 1000, maxMs: 300_000, log })
  const add = (record: ElasticIP) => {
    if (isSource(record)) keys.add(record.metadata.name)
    if (record.spec.source) keys.add(record.spec.source.name)
  }
  caches.records.onChange((_name, current, previous) => {
    if (!concerns(current, previous)) return
    for (const record of [current, previous]) if (record) add(record)
  })
  const reconciler = availableAddress({
    getRecord: (key, signal) => ledger.deps.records.get(key, { signal }),
    takerOf: takerIn(deps),
    carryOut: availableSteps(ledger.deps),
    check: provisionedCheck(ledger.deps, { everyMs, monotonicMs: () => performance.now() }),
  })
  const complain = (name: string, message: string) => {
    const record = caches.records.get(name)
    if (record) events.record(record, { type: 'Warning', reason: 'NotAvailable', message })
  }
  return {
    async run(signal) {
      await Promise.all([caches.services.synced(signal), caches.records.synced(signal)])
      for (const record of caches.records.list()) add(record)
      await runController({ ...said(deps), queue: keys, reconciler, complain }, signal)
    },
  }
}

/** What comes into stock, and what a record that is gone may have taken, is looked at whatever had come of it. */
function concerns(current: ElasticIP | undefined, previous: ElasticIP | undefined): boolean {
  const isNew = current !== undefined && previous === undefined && isSource(current)
  const isGone = current === undefined && previous?.spec.source !== undefined
  return isNew || isGone || isRelevantChange(current, previous)
}

function takerIn({ caches }: Dependencies): AvailableAddressDeps['takerOf'] {
  return (name) => caches.records.list().find(({ spec }) => spec.source?.name === name)?.metadata.name
}
