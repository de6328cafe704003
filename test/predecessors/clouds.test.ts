// The calls of the predecessors, as the stand-ins send them, are calls that the simulated clouds know.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type DialectName, dialects } from '../../sandbox/dialects.ts'
import { eventually } from '../whole/eventually.ts'
import { cherryServers } from './stand-in/cherry-servers.ts'
import type { PredecessorCloud, SettingsFile } from './stand-in/cloud.ts'
import { equinixMetal } from './stand-in/equinix-metal.ts'

type Case = {
  dialect: Extract<DialectName, 'equinix-metal' | 'cherry-servers'>
  of: (settings: SettingsFile) => PredecessorCloud
  place: Partial<SettingsFile>
  scheme: string
  peers: number
}

const cases: Case[] = [
  {
    dialect: 'equinix-metal',
    of: equinixMetal,
    place: { metro: 'da', bgpPass: 'Secret12345abc' },
    scheme: 'equinixmetal',
    peers: 2,
  },
  { dialect: 'cherry-servers', of: cherryServers, place: { region: 'LT-Siauliai' }, scheme: 'cherryservers', peers: 2 },
]

for (const { dialect, of, place, scheme, peers } of cases) {
  test(`${dialect}: a machine with BGP, and an address with tags that comes and goes`, async () => {
    const { cloud, project, token } = await dialects[dialect].open()
    try {
      const device = cloud.control.devices.add({ hostname: 'node-a' }) as { id: string | number }
      const access = { apiKey: token, projectID: project, 'base-url': cloud.url, loadbalancer: 'metallb:///' }
      const seen = of({ ...access, ...place })
      await seen.enableProject()
      const machine = await seen.machineNamed('node-a')
      assert.is(machine?.providerID, `${scheme}://${device.id}`)
      const { privateNetwork, ...same } = (await seen.machineOf(machine?.providerID ?? '')) ?? {}
      assert.equal({ ...machine, privateNetwork: undefined }, { ...same, privateNetwork: undefined })
      assert.is(privateNetwork !== undefined, dialect === 'equinix-metal')
      assert.equal(
        new Set<string>(machine?.addresses.map(({ type }) => type)),
        new Set(['Hostname', 'InternalIP', 'ExternalIP']),
      )
      const session = await eventually('the machine has a session', () =>
        seen.session(machine?.providerID ?? '').catch(() => undefined),
      )
      assert.equal(session, await seen.session(machine?.providerID ?? ''), 'enabled already')
      assert.is(session.peers.length, peers)
      assert.is(session.password, place.bgpPass)
      assert.ok(machine?.addresses.some(({ address }) => address === session.sourceAddress))

      const tags = ['usage=a', 'service=b+c/d==', 'cluster=e']
      const { id, address } = await seen.reserve(tags)
      const [found, ...others] = (await seen.reservations()).filter((one) => tags.every((tag) => one.has(tag)))
      assert.equal([found?.id, found?.address, others], [id, address, []])
      await seen.remove(id)
    } finally {
      await cloud.close()
    }
  })
}

test.run()
