import { hetzner } from '../../../clouds/hetzner/client.ts'
import type { ClientOptions } from '../../../clouds/http/client.ts'
import { startHetzner } from '../../../sandbox/clouds/hetzner/server.ts'
import type { UnknownBehaviour } from '../../../sandbox/clouds/hetzner/unknown-behaviour.ts'
import type { AssignmentStage } from '../contract.ts'

export const key = 'hetzner-key-5ecret'
const readOnlyKey = 'hetzner-key-read-0nly'
const unknownKey = 'hetzner-key-unkn0wn'
const foreignKey = 'hetzner-key-f0reign'

/** A simulated Hetzner Cloud with two projects, and clients with all kinds of keys. */
export async function startCloud(unknowns: Partial<UnknownBehaviour> = {}, actionMs = 0) {
  const simulator = await startHetzner({
    tokens: [
      { token: key, projects: [1] },
      { token: readOnlyKey, projects: [1], readOnly: true },
      { token: foreignKey, projects: [2] },
    ],
    quota: 300,
    unknowns,
    actionMs,
  })
  const cloudWith = (apiKey: string, more: Partial<ClientOptions> = {}) =>
    hetzner({
      apiKey: { reveal: () => apiKey },
      userAgent: 'test',
      baseUrl: simulator.url,
      retryDelayMs: 5,
      ...more,
    })
  return { ...simulator, cloudWith, [Symbol.asyncDispose]: simulator.close }
}

/** The same as the contract wants it. */
export async function startStage(unknowns: Partial<UnknownBehaviour>): Promise<AssignmentStage> {
  const { control, cloudWith, ...simulator } = await startCloud(unknowns)
  const { devices } = control
  return {
    cloud: cloudWith(key),
    withUnknownKey: cloudWith(unknownKey),
    withReadOnlyKey: cloudWith(readOnlyKey),
    withForeignKey: cloudWith(foreignKey),
    refusesForeignKey: false,
    keys: [key, unknownKey, readOnlyKey, foreignKey],
    location: 'fsn1',
    control,
    routes: {
      reserve: 'POST /floating_ips',
      release: 'DELETE /floating_ips/{id}',
      list: 'GET /floating_ips',
      machines: 'GET /servers',
      machine: 'GET /servers/{id}',
    },
    machines: {
      add: (hostname) => String(devices.add({ hostname })['id']),
      turnOff: (id) => void devices.powerOff(id),
      turnOn: (id) => void devices.powerOn(id),
      reinstall: (id) => void devices.setStatus(id, 'rebuilding'),
      remove: (id) => devices.remove(id),
      shows: { privateNetwork: false, lent: false },
      async lend(id, address) {
        const found = control.reservations.all().find(({ ip }) => ip === address)
        control.reservations.assign(String(found?.['id']), id)
      },
    },
    tagPrefix: 'eip-admission.dev/',
    moveRoutes: ['POST /floating_ips/{id}/actions/assign'],
    writesOfMove: 1,
    [Symbol.asyncDispose]: simulator[Symbol.asyncDispose],
  }
}
