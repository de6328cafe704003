import { runController } from '../../controllers/controller.ts'
import { type StockAddressDeps, stockAddress } from '../../controllers/stock-address.ts'
import { stockSteps } from '../../controllers/stock-steps.ts'
import { queue } from '../../kube/queue.ts'
import type { ElasticIP } from '../../ledger/elastic-ip.ts'
import { inspector } from '../../ledger/inspect.ts'
import { isNews } from '../../ledger/news.ts'
import { isStock } from '../../ledger/stock.ts'
import type { World } from '../world.ts'
import { type Controller, said } from './controller.ts'

/** A few at a time: one that waits for the cloud must not keep the others from their Services. */
const concurrency = 4

/** Keeps what is in stock true, whoever put it there. */
export function stock(world: World): Controller {
  const { ledger, views, events, log, settings } = world
  const { sweepIntervalMs: everyMs } = settings.cloud.settings
  const keys = queue({ concurrency, firstMs: 1000, mostMs: 300_000, log })
  const add = (record: ElasticIP) => {
    if (isStock(record)) keys.add(record.metadata.name)
    if (record.spec.from) keys.add(record.spec.from.name)
  }
  views.records.onChange((_name, current, previous) => {
    if (!concerns(current, previous)) return
    for (const record of [current, previous]) if (record) add(record)
  })
  const reconciler = stockAddress({
    getRecord: (key, signal) => ledger.parts.records.get(key, { signal }),
    takerOf: takerIn(world),
    carryOut: stockSteps(ledger.parts),
    check: inspector(ledger.parts, { everyMs, monotonicMs: () => performance.now() }),
  })
  const complain = (name: string, message: string) => {
    const record = views.records.get(name)
    if (record) events.record(record, { type: 'Warning', reason: 'NotAvailable', message })
  }
  return {
    async run(signal) {
      await Promise.all([views.services.synced(signal), views.records.synced(signal)])
      for (const record of views.records.list()) add(record)
      await runController({ ...said(world), queue: keys, reconciler, complain }, signal)
    },
  }
}

/** What comes into stock, and what a record that is gone may have taken, is looked at whatever had come of it. */
function concerns(current: ElasticIP | undefined, previous: ElasticIP | undefined): boolean {
  const isNew = current !== undefined && previous === undefined && isStock(current)
  const isGone = current === undefined && previous?.spec.from !== undefined
  return isNew || isGone || isNews(current, previous)
}

function takerIn({ views }: World): StockAddressDeps['takerOf'] {
  return (name) => views.records.list().find(({ spec }) => spec.from?.name === name)?.metadata.name
}
