// Compares bodies of the simulator with public examples of the real API.
import { readFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Fixture, type Json, project, withCherry } from './cherry-fixture.ts'

type Examples = Record<
  'region' | 'plan' | 'project' | 'changedProject' | 'server' | 'changedServer' | 'floatingIp' | 'targetedIp',
  Json
>

const examples = JSON.parse(readFileSync(new URL('cherry-examples.json', import.meta.url), 'utf8')) as Examples

/** Lists the fields of the example that the body lacks, or has with another type. */
function differences(example: unknown, body: unknown, path: string): string[] {
  if (Array.isArray(example)) {
    if (!Array.isArray(body)) return [`${path} is no list`]
    return example.length === 0 ? [] : differences(example[0], body[0], `${path}[0]`)
  }
  if (typeof example !== 'object' || example === null)
    return typeof body === typeof example ? [] : [`${path} is ${typeof body}, not ${typeof example}`]
  if (typeof body !== 'object' || body === null) return [`${path} is no object`]
  return Object.entries(example).flatMap(([name, value]) => differences(value, (body as Json)[name], `${path}.${name}`))
}

/** Makes a server that announces an address with BGP. */
async function busyServer({ cherry, clock, call, order }: Fixture): Promise<number> {
  const wanted = { plan: 'B1-4-4gb-80s-shared', region: 'LT-Siauliai', hostname: 'k8s-cp-1', ssh_keys: [9845] }
  const id = Number((await call(`POST /projects/${project}/servers`, wanted)).body['id'])
  await call(`PUT /projects/${project}`, { bgp: true })
  await call(`PUT /servers/${id}`, { bgp: true, tags: { env: 'prod' } })
  clock.now += 1000
  const { cidr } = await order()
  cherry.control.bgp.setSession(String(id), { connected: 2, routes: [String(cidr)] })
  return id
}

const bodies: Record<keyof Examples, (fixture: Fixture) => Promise<Json>> = {
  region: async ({ call }) => (await call('GET /regions/NL-Amsterdam')).body,
  plan: async ({ call }) => (await call('GET /plans/amd-ryzen-9950x?fields=plan,specs,pricing,region')).body,
  project: async ({ call }) => (await call(`GET /projects/${project}`)).body,
  changedProject: async ({ call }) => (await call(`PUT /projects/${project}`, { name: 'edge-prod', bgp: true })).body,
  async server(fixture) {
    const id = await busyServer(fixture)
    return (await fixture.call(`GET /servers/${id}`)).body
  },
  async changedServer(fixture) {
    const id = await busyServer(fixture)
    return (await fixture.call(`PUT /servers/${id}`, { tags: { env: 'prod' }, bgp: true })).body
  },
  floatingIp: async ({ order }) => await order(),
  async targetedIp({ call, order, server }) {
    const { id } = await order({ tags: { k8s: 'cp' } })
    return (await call(`PUT /ips/${String(id)}`, { targeted_to: String(server()) })).body
  },
}

for (const [name, bodyOf] of Object.entries(bodies))
  test(`${name} has every field of the vendor's example, with the same type`, () =>
    withCherry({}, async (fixture) => {
      assert.equal(differences(examples[name as keyof Examples], await bodyOf(fixture), name), [])
    }))

/** Objects whose examples are complete: the vendor has no further fields. */
const closed: { name: keyof Examples; path: string[] }[] = [
  { name: 'region', path: [] },
  { name: 'plan', path: [] },
  { name: 'project', path: [] },
  { name: 'changedProject', path: [] },
  { name: 'server', path: ['bgp'] },
  { name: 'floatingIp', path: [] },
]

for (const { name, path } of closed)
  test(`${[name, ...path].join('.')} has no field that the vendor's example lacks`, () =>
    withCherry({}, async (fixture) => {
      const at = (body: unknown) => path.reduce((inner, field) => (inner as Json)[field], body) as Json
      const wanted = Object.keys(at(examples[name])).toSorted()
      assert.equal(Object.keys(at(await bodies[name](fixture))).toSorted(), wanted)
    }))

test.run()
