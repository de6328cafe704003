import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { UnknownBehaviour } from '../../sandbox/clouds/cherry-servers/unknown-behaviour.ts'
import { type Fixture, type Json, otherProject, project, within, withCherry } from './cherry-fixture.ts'

const bgpOf = async ({ call }: Fixture, id: number) => within((await call(`GET /servers/${id}`)).body, 'bgp')
const asnOf = async ({ call }: Fixture) => within((await call(`GET /projects/${project}`)).body, 'bgp')['local_asn']
const enableProject = ({ call }: Fixture) => call(`PUT /projects/${project}`, { bgp: true })
const enable = ({ call }: Fixture, id: number) => call(`PUT /servers/${id}`, { bgp: true })

/** A server that speaks BGP, in a project that has its ASN. */
async function speaker(fixture: Fixture): Promise<number> {
  const id = fixture.server()
  await enableProject(fixture)
  await enable(fixture, id)
  fixture.clock.now += 1000
  return id
}

const rules: { name: string; unknowns?: Partial<UnknownBehaviour>; check: (fixture: Fixture) => Promise<void> }[] = [
  {
    name: 'BGP goes on for the project first, then for a server, and comes up idle',
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
    name: 'before the project has it, a server is refused, and stays as it is',
    async check(fixture) {
      const id = fixture.server()
      assert.is((await fixture.call(`PUT /servers/${id}`, { bgp: true, hostname: 'renamed' })).status, 400)
      const { body } = await fixture.call(`GET /servers/${id}`)
      assert.equal([body['hostname'], within(body, 'bgp')['enabled']], ['worker-1', false])
    },
  },
  {
    name: 'or it is accepted',
    unknowns: { bgpBeforeProject: 'accepted' },
    async check(fixture) {
      assert.is((await enable(fixture, fixture.server())).status, 201)
    },
  },
  {
    name: 'the ASN of the project is 0 until BGP was on for a server for a while, and then stays',
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
    name: 'BGP that goes off before the ASN comes brings none',
    async check(fixture) {
      const id = fixture.server()
      await enableProject(fixture)
      await enable(fixture, id)
      fixture.cherry.door.bgp.turnOff(String(id))
      fixture.clock.now += 5000
      assert.is(await asnOf(fixture), 0)
    },
  },
  {
    name: 'the ASN may go with the last server that speaks BGP',
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
    name: 'each project has an ASN of its own, and every server tells that of its project',
    async check(fixture) {
      const { cherry, call, clock } = fixture
      const id = await speaker(fixture)
      const theirs = Number(cherry.door.devices.add({ hostname: 'theirs', project: otherProject })['id'])
      await call(`PUT /projects/${otherProject}`, { bgp: true }, 'both')
      await call(`PUT /servers/${theirs}`, { bgp: true }, 'both')
      clock.now += 1000
      const asn = async (server: number) => {
        const { body } = await call(`GET /servers/${server}`, undefined, 'both')
        return within(within(body, 'project'), 'bgp')['local_asn']
      }
      assert.equal([await asn(id), await asn(theirs)], [64_667, 64_668])
    },
  },
  {
    name: 'how long the ASN takes can be told',
    async check(fixture) {
      fixture.cherry.door.setLocalAsn({ afterMs: 60_000 })
      await speaker(fixture)
      fixture.clock.now += 58_999
      assert.is(await asnOf(fixture), 0)
      fixture.clock.now += 1
      assert.is(await asnOf(fixture), 64_667)
    },
  },
  {
    name: 'a tool that edits a server and knows no BGP turns it off, and tags are left alone',
    async check(fixture) {
      const id = await speaker(fixture)
      await fixture.call(`PUT /servers/${id}`, { tags: { env: 'prod' } })
      fixture.cherry.door.bgp.turnOff(String(id))
      const { body } = await fixture.call(`GET /servers/${id}`)
      assert.equal([within(body, 'bgp')['status'], body['tags']], ['Disabled', { env: 'prod' }])
      fixture.cherry.door.bgp.turnOffProject(String(project))
      assert.is((await enable(fixture, id)).status, 400)
    },
  },
  {
    name: 'a change without bgp leaves it on',
    async check(fixture) {
      const id = await speaker(fixture)
      for (const change of [{}, { tags: {} }, { bgp: null }]) await fixture.call(`PUT /servers/${id}`, change)
      assert.is((await bgpOf(fixture, id))['enabled'], true)
    },
  },
  {
    name: 'sessions that come up are seen, one router, then both, and the routes that each has learned',
    async check(fixture) {
      const id = await speaker(fixture)
      const { address } = await fixture.order()
      await fixture.order({ region: 'NL-Amsterdam' })
      const { bgp } = fixture.cherry.door
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
  {
    name: 'active may be true instead of a number',
    unknowns: { bgpActive: 'flag' },
    async check(fixture) {
      const id = await speaker(fixture)
      assert.is((await bgpOf(fixture, id))['active'], false)
      fixture.cherry.door.bgp.setSession(String(id), { connected: 2, routes: ['203.0.113.0/32'] })
      assert.is((await bgpOf(fixture, id))['active'], true)
    },
  },
  {
    name: 'BGP that goes off and on again has lost its sessions',
    async check(fixture) {
      const id = await speaker(fixture)
      fixture.cherry.door.bgp.setSession(String(id), { connected: 2 })
      await enable(fixture, id)
      assert.is((await bgpOf(fixture, id))['connected'], 2)
      fixture.cherry.door.bgp.turnOff(String(id))
      await enable(fixture, id)
      assert.is((await bgpOf(fixture, id))['connected'], 0)
    },
  },
]

for (const { name, unknowns = {}, check } of rules) test(name, () => withCherry({ unknowns }, check))

test.run()
