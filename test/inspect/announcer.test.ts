import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { readAnnouncer } from '../../inspect/announcer.ts'
import type { ClusterReader } from '../../inspect/reader.ts'
import { KubeError } from '../../kube/errors.ts'
import { makeContext } from '../commands/doctor/context.ts'

const context = makeContext({ env: { METAL_LOAD_BALANCER: 'metallb:///m?crdConfiguration=true' } })

/** The kinds that a cluster lacks, as `doctor` sees them. */
async function unknownWithout(...lacking: string[]): Promise<string[]> {
  const reader: Pick<ClusterReader, 'list'> = {
    list(resource) {
      if (lacking.includes(resource.kind)) throw new KubeError('no such kind', { status: 404, reason: 'UnknownKind' })
      return Promise.resolve({ items: [], metadata: { resourceVersion: '1' } })
    },
  }
  return (await readAnnouncer(reader, context)).unknown
}

test('a kind that is lacking is unknown, but not one of reports: MetalLB before 0.15.3 writes none', async () => {
  assert.equal(await unknownWithout(), [])
  assert.equal(await unknownWithout('ConfigurationState'), [])
  assert.equal(await unknownWithout('BGPPeer', 'ConfigurationState'), ['BGPPeer'])
})

test.run()
