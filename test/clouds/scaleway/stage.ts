import { scaleway, type ScalewayOptions } from '../../../clouds/scaleway/client.ts'
import { type ScalewayOptions as CloudOptions, startScaleway } from '../../../sandbox/clouds/scaleway/server.ts'
import type { UnknownBehaviour } from '../../../sandbox/clouds/scaleway/unknown-behaviour.ts'
import type { ProjectStage } from '../contract.ts'

export const key = '5ca1e0ff-0000-4000-8000-0000005ecret'
const readOnlyKey = '5ca1e0ff-0000-4000-8000-00read-0nly0'
const unknownKey = '5ca1e0ff-0000-4000-8000-0000unkn0wn0'
const foreignKey = '5ca1e0ff-0000-4000-8000-0000f0reign0'

export const project = '11111111-1111-4111-8111-111111111111'
const otherProject = '22222222-2222-4222-8222-222222222222'
export const zone = 'fr-par-1'

/** A simulated Scaleway with two projects, and clients with all kinds of keys. */
export async function startCloud(options: Partial<CloudOptions> = {}) {
  const simulator = await startScaleway({
    tokens: [
      { token: key, projects: [project, otherProject] },
      { token: readOnlyKey, projects: [project], readOnly: true },
      { token: foreignKey, projects: [otherProject] },
    ],
    quota: 300,
    ...options,
  })
  const cloudWith = (apiKey: string, more: Partial<ScalewayOptions> = {}) =>
    scaleway({
      apiKey: { reveal: () => apiKey },
      projectId: project,
      zone,
      userAgent: 'test',
      baseUrl: simulator.url,
      retryDelayMs: 5,
      pollMs: 5,
      ...more,
    })
  return { ...simulator, cloudWith, [Symbol.asyncDispose]: simulator.close }
}

const fips = '/flexible-ip/v1alpha1/zones/{zone}/fips'
export const routes = {
  reserve: `POST ${fips}`,
  mark: `PATCH ${fips}/{id}`,
  release: `DELETE ${fips}/{id}`,
  list: `GET ${fips}`,
  attach: `POST ${fips}/attach`,
  detach: `POST ${fips}/detach`,
  machines: 'GET /baremetal/v1/zones/{zone}/servers',
  machine: 'GET /baremetal/v1/zones/{zone}/servers/{id}',
}

/** The same as the contract wants it. */
export async function startStage(unknowns: Partial<UnknownBehaviour>): Promise<ProjectStage> {
  const { control, cloudWith, ...simulator } = await startCloud({ unknowns })
  const { devices } = control
  const movesAtOnce = (unknowns.attachElsewhere ?? 'accept') === 'accept'
  return {
    cloud: cloudWith(key),
    withUnknownKey: cloudWith(unknownKey),
    withReadOnlyKey: cloudWith(readOnlyKey),
    withForeignKey: cloudWith(foreignKey),
    inOtherProject: cloudWith(key, { projectId: otherProject }),
    keys: [key, unknownKey, readOnlyKey, foreignKey],
    location: zone,
    region: 'fr-par',
    control,
    routes,
    machines: {
      add: (hostname) => String(devices.add({ hostname })['id']),
      turnOff: (id) => void devices.powerOff(id),
      turnOn: (id) => void devices.powerOn(id),
      reinstall: (id) => void devices.setStatus(id, 'migrating'),
      remove: (id) => devices.remove(id),
      shows: {
        privateAddress: false,
        privateNetwork: false,
        lent: unknowns.serverShowsAddresses === 'at-once',
      },
      async lend(id, address) {
        const found = control.reservations.all().find(({ ip_address: ip }) => String(ip).split('/')[0] === address)
        control.reservations.assign(String(found?.['id']), id)
      },
    },
    tagPrefix: 'eip-admission.dev/',
    addElsewhere: (hostname) => String(devices.add({ hostname, zone: 'nl-ams-1' })['id']),
    moveRoutes: movesAtOnce ? [routes.attach] : [routes.attach, routes.detach],
    writesOfMove: movesAtOnce ? 1 : 3,
    isTriedFirst: !movesAtOnce,
    [Symbol.asyncDispose]: simulator[Symbol.asyncDispose],
  }
}
