import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { UnknownBehaviour } from '../../sandbox/clouds/cherry-servers/unknown-behaviour.ts'
import { type Fixture, type Json, project, within, withCherry } from './cherry-fixture.ts'

const bgpOf = async ({ call }: Fixture, id: number) => within((await call(`GET /servers/${id}`)).body, 'bgp')
const asnOf = async ({ call }: Fixture) => within((await call(`GET /projects/${project}`)).body, 'bgp')['local_asn']
const enableProject = ({ call }: Fixture) => call(`PUT /projects/${project}`, { bgp: true })
const enable = ({ call }: Fixture, id: number) => call(`PUT /servers/${id}`, { bgp: true })

/** Makes a server with BGP in a project that has its ASN. */
async function speaker(fixture: Fixture): Promise<number> {
  const id = fixture.server()
  await enableProject(fixture)
  await enable(fixture, id)
  fixture.clock.now += 1000
  return id
}

const rules: { name: string; unknowns?: Partial<UnknownBehaviour>; check: (fixture: Fixture) => Promise<void> }[] = [
  {
    name: 'BGP is enabled for the project, then for a server, and starts idle',
    async check(fixture) {
      const id = fixture.server()
      assert.equal(await bgpOf(fixture, id), {
        enabled: false,
        available: false,
        status: 'Disabled',
        routers: 0,
        connected: 0,
        limit: 0,
        active: 0,
        routes: [],
        updated: '2026-09-01T10:00:00+00:00',
      })
      await enableProject(fixture)
      const { status, body } = await enable(fixture, id)
      assert.is(status, 201)
      const { updated, ...idle } = within(body, 'bgp')
      assert.equal(updated, '2026-09-01T10:00:00+00:00')
      assert.equal(idle, {
        enabled: true,
        available: false,
        status: 'Idle',
        routers: 2,
        connected: 0,
        limit: 0,
        active: 0,
        routes: [],
      })
    },
  },
  {
    name: 'enabling BGP for a server gets 400 while the project has it disabled, and the server does not change',
    async check(fixture) {
      const id = fixture.server()
      assert.is((await fixture.call(`PUT /servers/${id}`, { bgp: true, hostname: 'renamed' })).status, 400)
      const { body } = await fixture.call(`GET /servers/${id}`)
      assert.equal([body['hostname'], within(body, 'bgp')['enabled']], ['worker-1', false])
    },
  },
  {
    name: 'enabling BGP for a server may be accepted while the project has it disabled',
    unknowns: { bgpBeforeProject: 'accepted' },
    async check(fixture) {
      assert.is((await enable(fixture, fixture.server())).status, 201)
    },
  },
  {
    name: "the project's ASN is 0 until BGP has been enabled for a server for a while, and then stays",
    async check(fixture) {
      const id = fixture.server()
      await enableProject(fixture)
      fixture.clock.now += 3_600_000
      assert.is(await asnOf(fixture), 0)
      await enable(fixture, id)
      assert.is(await asnOf(fixture), 0)
      fixture.clock.now += 999
      assert.is(await asnOf(fixture), 0)
      fixture.clock.now += 1
      assert.is(await asnOf(fixture), 64_667)
      await fixture.call(`PUT /servers/${id}`, { bgp: false })
      await fixture.call(`DELETE /servers/${id}`)
      fixture.clock.now += 3_600_000
      assert.is(await asnOf(fixture), 64_667)
    },
  },
  {
    name: "disabling BGP for the last server may clear the project's ASN",
    unknowns: { localAsn: 'cleared' },
    async check(fixture) {
      const id = await speaker(fixture)
      const other = fixture.server('worker-2')
      await enable(fixture, other)
      await fixture.call(`PUT /servers/${id}`, { bgp: false })
      assert.is(await asnOf(fixture), 64_667)
      await fixture.call(`DELETE /servers/${other}`)
      assert.is(await asnOf(fixture), 0)
    },
  },
  {
    name: 'a change without the field bgp keeps BGP enabled',
    async check(fixture) {
      const id = await speaker(fixture)
      for (const change of [{}, { tags: {} }, { bgp: null }]) await fixture.call(`PUT /servers/${id}`, change)
      assert.is((await bgpOf(fixture, id))['enabled'], true)
    },
  },
  {
    name: 'a server shows the sessions with one router, then with both, and the routes that each has learned',
    async check(fixture) {
      const id = await speaker(fixture)
      const { address } = await fixture.order()
      await fixture.order({ region: 'NL-Amsterdam' })
      const { bgp } = fixture.cherry.control
      bgp.setSession(String(id), { connected: 1 })
      const one = await bgpOf(fixture, id)
      assert.equal([one['status'], one['available'], one['connected']], ['Degraded', true, 1])
      bgp.setSession(String(id), { connected: 2, routes: [`${String(address)}/32`] })
      fixture.clock.now += 764_000
      const both = await bgpOf(fixture, id)
      assert.equal([both['status'], both['connected'], both['active'], both['limit']], ['Established', 2, 2, 1])
      const [route = {}] = both['routes'] as Json[]
      assert.equal(
        [route['subnet'], route['router'], route['age']],
        [`${String(address)}/32`, '46.166.166.122', '0:12:44'],
      )
    },
  },
]

for (const { name, unknowns = {}, check } of rules) test(name, () => withCherry({ unknowns }, check))

test.run()
