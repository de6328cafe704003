import { equinixMetal } from '../../../clouds/equinix-metal/client.ts'
import { startEquinixMetal } from '../../../sandbox/clouds/equinix-metal/server.ts'
import type { UnknownBehaviour } from '../../../sandbox/clouds/equinix-metal/unknown-behaviour.ts'
import type { GrantStage, PasswordStage, ProjectStage, Stage } from '../contract.ts'
import { projectId } from './fixtures.ts'

const otherProjectId = '1c8d7f2e-7d2e-4e1f-9f66-1b4d6b2c3d4e'
export const key = 'metal-key-5ecret'
const readOnlyKey = 'metal-key-read-0nly'
const unknownKey = 'metal-key-unkn0wn'
const foreignKey = 'metal-key-f0reign'

/** A simulated Equinix Metal with one project, and clients with all kinds of keys. */
export async function startMetal(unknowns: Partial<UnknownBehaviour> = {}) {
  const simulator = await startEquinixMetal({
    projects: [{ id: projectId }, { id: otherProjectId }],
    tokens: [
      { token: key, projects: [projectId, otherProjectId] },
      { token: readOnlyKey, projects: [projectId], readOnly: true },
      { token: foreignKey, projects: [otherProjectId] },
    ],
    unknowns,
  })
  const cloudWith = (apiKey: string, project = projectId) =>
    equinixMetal({
      apiKey: { reveal: () => apiKey },
      projectId: project,
      baseUrl: simulator.url,
      userAgent: 'eip-admission/test',
      retryDelayMs: 5,
    })
  return { simulator, control: simulator.control, cloudWith, [Symbol.asyncDispose]: simulator.close }
}

/** The same as the contract wants it. */
export async function startStage(
  unknowns: Partial<UnknownBehaviour>,
): Promise<GrantStage & PasswordStage & ProjectStage> {
  const metal = await startMetal(unknowns)
  const { control, cloudWith } = metal
  return {
    cloud: cloudWith(key),
    withUnknownKey: cloudWith(unknownKey),
    withReadOnlyKey: cloudWith(readOnlyKey),
    withForeignKey: cloudWith(foreignKey),
    inOtherProject: cloudWith(key, otherProjectId),
    keys: [key, unknownKey, readOnlyKey, foreignKey],
    location: 'da',
    control,
    routes,
    grants: {
      late: () => control.setGrants({ mode: 'late' }),
      grant: (id) => void control.reservations.grant(id),
      deny: (id) => void control.reservations.deny(id),
    },
    machines: machineRoom(metal),
    peering: { routes: peeringRoutes, chosenAsn: undefined, peerAsn: 65_530 },
    password: 'Secret1234',
    moveRoutes: ['DELETE /ips/{id}', 'POST /devices/{id}/ips'],
    writesOfMove: 2,
    addElsewhere: (hostname) => String(control.devices.add({ hostname, metro: 'ny' })['id']),
    [Symbol.asyncDispose]: metal[Symbol.asyncDispose],
  }
}

export type Metal = Awaited<ReturnType<typeof startMetal>>

function machineRoom({ simulator, control }: Metal): Stage['machines'] {
  return {
    add: (hostname) => String(control.devices.add({ hostname })['id']),
    turnOff: (id) => void control.devices.powerOff(id),
    turnOn: (id) => void control.devices.powerOn(id),
    reinstall: (id) => void control.devices.setState(id, 'reinstalling'),
    remove: (id) => control.devices.remove(id),
    lend: async (id, address) => void (await assign(simulator.url, id, address)),
  }
}

/** Gives an address to a machine, as a person would. */
export async function assign(url: string, device: string, address: string | undefined): Promise<string> {
  const response = await fetch(`${url}/devices/${device}/ips`, {
    method: 'POST',
    headers: { 'x-auth-token': key, 'content-type': 'application/json' },
    body: JSON.stringify({ address }),
  })
  const { id } = (await response.json()) as { id: string }
  return id
}

const routes = {
  reserve: 'POST /projects/{id}/ips',
  release: 'DELETE /ips/{id}',
  list: 'GET /projects/{id}/ips',
  machines: 'GET /projects/{id}/devices',
  machine: 'GET /devices/{id}',
}
const peeringRoutes = {
  project: 'GET /projects/{id}/bgp-config',
  enable: 'POST /projects/{id}/bgp-configs',
  machines: 'GET /projects/{id}/bgp/sessions',
  enableOn: 'POST /devices/{id}/bgp/sessions',
  peers: 'GET /devices/{id}/bgp/neighbors',
}
