// Which Events `doctor` reads: ours, of the last hour.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { clusterFacts } from '../../inspect/cluster.ts'
import type { ClusterReader } from '../../inspect/reader.ts'
import { makeContext, now } from '../commands/doctor/context.ts'

const ageMinutes = (minutes: number) => new Date(now.getTime() - minutes * 60_000).toISOString()

test('an Event of an hour ago is none of the present', async () => {
  const stored = [59, 60, 61].map((minutes) => ({ reason: `${minutes}`, lastTimestamp: ageMinutes(minutes) }))
  const asked: (string | undefined)[] = []
  const reader = {
    get: async () => undefined,
    async list({ kind }: { kind: string }, { fieldSelector }: { fieldSelector?: string } = {}) {
      if (kind !== 'Event') return { metadata: {}, items: [] }
      asked.push(fieldSelector)
      return { metadata: {}, items: asked.length === 1 ? stored : [] }
    },
    probe: async () => ({ outcome: 'unknown', reason: 'none' }),
  } as unknown as ClusterReader
  const { events } = await clusterFacts({ reader, context: makeContext() } as Parameters<typeof clusterFacts>[0])
  assert.equal('value' in events && events.value.map(({ reason }) => reason), ['59'])
  assert.ok(asked.length > 1 && asked.every((selector) => selector?.startsWith('source=')))
})

test.run()
