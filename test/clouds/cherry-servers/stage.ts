import { startCherryServers } from '../../../sandbox/clouds/cherry-servers/server.ts'
import type { UnknownBehaviour } from '../../../sandbox/clouds/cherry-servers/unknown-behaviour.ts'
import type { PeeringStage, ProjectStage, Stage } from '../contract.ts'
import { cherryAt, projectId } from './fixtures.ts'

const otherProjectId = 218_451
export const key = 'cherry-key-5ecret'
const readOnlyKey = 'cherry-key-read-0nly'
const unknownKey = 'cherry-key-unkn0wn'
const foreignKey = 'cherry-key-f0reign'

/** A simulated Cherry Servers with one project, in which all is done at once, and clients with all kinds of keys. */
export async function startCherry(unknowns: Partial<UnknownBehaviour> = {}, now = Date.now) {
  const simulator = await startCherryServers({
    projects: [{ id: Number(projectId) }, { id: otherProjectId }],
    tokens: [
      { token: key, projects: [Number(projectId), otherProjectId] },
      { token: readOnlyKey, projects: [Number(projectId)], readOnly: true },
      { token: foreignKey, projects: [otherProjectId] },
    ],
    provisioningMs: 0,
    localAsnMs: 0,
    unknowns,
    now,
  })
  const { control, url } = simulator
  control.setDeletion({ reservationsMs: 0, devicesMs: 0 })
  const cloudWith = (apiKey: string, more: Parameters<typeof cherryAt>[1] = {}) =>
    cherryAt(url, { apiKey: { reveal: () => apiKey }, ...more })
  return { simulator, control, cloudWith, [Symbol.asyncDispose]: simulator.close }
}

/** The same as the contract wants it. */
export async function startStage(unknowns: Partial<UnknownBehaviour>): Promise<PeeringStage & ProjectStage> {
  const cherry = await startCherry(unknowns)
  const { control, cloudWith } = cherry
  return {
    cloud: cloudWith(key),
    withUnknownKey: cloudWith(unknownKey),
    withReadOnlyKey: cloudWith(readOnlyKey),
    withForeignKey: cloudWith(foreignKey),
    inOtherProject: cloudWith(key, { projectId: String(otherProjectId) }),
    keys: [key, unknownKey, readOnlyKey, foreignKey],
    location: 'LT-Siauliai',
    control,
    routes,
    machines: machineRoom(cherry),
    moveRoutes: ['PUT /ips/{id}'],
    writesOfMove: 1,
    addElsewhere: (hostname) => String(control.devices.add({ hostname, region: 'NL-Amsterdam' })['id']),
    peering: {
      routes: peeringRoutes,
      chosenAsn: 64_667,
      peerAsn: 16_125,
      readsEach: unknowns.listShowsBgp === 'no',
    },
    [Symbol.asyncDispose]: cherry[Symbol.asyncDispose],
  }
}

export type Cherry = Awaited<ReturnType<typeof startCherry>>

function machineRoom({ simulator, control }: Cherry): Stage['machines'] {
  return {
    add: (hostname) => String(control.devices.add({ hostname })['id']),
    turnOff(id) {
      control.devices.setCondition(id, { state: 'active', status: 'deployed' })
      control.devices.powerOff(id)
    },
    turnOn: (id) => void control.devices.powerOn(id),
    reinstall: (id) => void control.devices.setCondition(id, { status: 'deploying' }),
    remove: (id) => control.devices.remove(id),
    lend: (id, address) => target(simulator.url, address, id),
  }
}

/** Has an address go to a server, or to none, as a person would. */
export async function target(url: string, address: string | undefined, server: string): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const list = (await (await fetch(`${url}/projects/${projectId}/ips`, { headers })).json()) as Record<string, string>[]
  const { id } = list.find((one) => one['address'] === address) ?? {}
  await fetch(`${url}/ips/${id}`, { method: 'PUT', headers, body: JSON.stringify({ targeted_to: server }) })
}

const routes = {
  reserve: 'POST /projects/{id}/ips',
  release: 'DELETE /ips/{id}',
  list: 'GET /projects/{id}/ips',
  machines: 'GET /projects/{id}/servers',
  machine: 'GET /servers/{id}',
}
const peeringRoutes = {
  project: 'GET /projects/{id}',
  enable: 'PUT /projects/{id}',
  machines: 'GET /projects/{id}/servers',
  enableOn: 'PUT /servers/{id}',
  peers: 'GET /projects/{id}/servers',
}
