// etcd is restored from an older backup under a replica that never leads: its caches follow.
import { cpSync, rmSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { freePorts } from '../../sandbox/ports.ts'
import { eventually } from './eventually.ts'
import { loadBalancer } from './manifests.ts'
import { knownAddresses } from './stored.ts'
import { openStage } from './test-stage.ts'

const stage = await openStage({ ownControlPlane: true })
const backup = join(stage.dir, 'etcd-backup')
const env = { METAL_METRO_NAME: 'da' }
// A cluster waits for three sweep intervals of the cluster that wrote the newest heartbeat, so all processes have the
// short interval.
const flags = ['--sweep-interval=1s']
const [port = 0] = await freePorts(1)

test('a replica that does not lead knows no record that the backup lacks, and every one that comes after it', async () => {
  const leader = await stage.startSwept({ env, flags })
  await stage.create(loadBalancer('in-the-backup'))
  await stage.settled('in-the-backup')
  await leader.stop()
  await stage.controlPlane.whileDown((data) => cpSync(data, backup, { recursive: true }))
  const again = await stage.startSwept({ env, flags })
  const replica = await stage.serve({ env, flags: [...flags, '--only=webhooks', `--webhook-secure-port=${port}`] })
  const knows = (count: number) =>
    eventually(
      `it knows ${count} addresses`,
      async (observe) => observe(await knownAddresses(replica)) === count || undefined,
      80_000,
    )
  const lost = Array.from({ length: 5 }, (_, n) => `lost-${n}`)
  for (const name of lost) await stage.create(loadBalancer(name))
  for (const name of lost) await stage.settled(name)
  await knows(6)
  await again.stop()
  await stage.controlPlane.whileDown((data) => {
    rmSync(data, { recursive: true })
    cpSync(backup, data, { recursive: true })
  })
  assert.is(await stage.service('lost-0'), undefined)
  await knows(1)
  // The API server learns its roles a moment after its start: refusals before that are not missing rights.
  truncateSync(stage.logOf('eip-admission'))
  // The cloud has a newer heartbeat than the backup: after three sweeps without another one, its cluster counts as
  // deleted.
  await stage.serve({ env, flags })
  await stage.create(loadBalancer('after'))
  await stage.settled('after')
  // The sweep adopts reservations without a record, whose Services no longer exist.
  await eventually(
    'it knows the new one',
    async (observe) => observe(await knownAddresses(replica)) >= 2 || undefined,
    80_000,
  )
})

test.after(() => stage.close())

test.run()
