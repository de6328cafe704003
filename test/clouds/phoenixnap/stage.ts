import { phoenixnap, type PhoenixnapOptions } from '../../../clouds/phoenixnap/client.ts'
import { type PhoenixnapOptions as CloudOptions, startPhoenixnap } from '../../../sandbox/clouds/phoenixnap/server.ts'
import type { UnknownBehaviour } from '../../../sandbox/clouds/phoenixnap/unknown-behaviour.ts'
import type { PasswordStage } from '../contract.ts'
import { neverAborted } from '../scripted-server.ts'

export const secret = 'pnap-5ecret'
export const readOnlySecret = 'pnap-read-0nly'
const unknownSecret = 'pnap-unkn0wn'
const foreignSecret = 'pnap-f0reign'

const clientId = '11111111-1111-4111-8111-111111111111'
const otherClientId = '22222222-2222-4222-8222-222222222222'
export const location = 'PHX'

/** A simulated phoenixNAP with two accounts, and clients with all kinds of secrets. */
export async function startCloud(options: Partial<CloudOptions> = {}) {
  const simulator = await startPhoenixnap({
    tokens: [
      { token: secret, projects: [clientId] },
      { token: readOnlySecret, projects: [clientId], readOnly: true },
      { token: foreignSecret, projects: [otherClientId] },
    ],
    quota: 300,
    ...options,
  })
  const cloudWith = (apiKey: string, more: Partial<PhoenixnapOptions> = {}) =>
    phoenixnap({
      clientId: apiKey === foreignSecret ? otherClientId : clientId,
      apiKey: { reveal: () => apiKey },
      location,
      peerAsn: 65_400,
      createsPeerGroup: true,
      userAgent: 'test',
      baseUrl: simulator.url,
      authUrl: simulator.url,
      retryDelayMs: 5,
      ...more,
    })
  /** A call of somebody else. */
  const call = async (method: string, path: string, body?: unknown) => {
    const granted = await fetch(`${simulator.url}/auth/realms/BMC/protocol/openid-connect/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(`${clientId}:${secret}`).toString('base64')}` },
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    })
    const { access_token: token } = (await granted.json()) as { access_token: string }
    return fetch(simulator.url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  }
  return { ...simulator, call, cloudWith, [Symbol.asyncDispose]: simulator.close }
}

export const routes = {
  reserve: 'POST /ips/v1/ip-blocks',
  release: 'DELETE /ips/v1/ip-blocks/{id}',
  list: 'GET /ips/v1/ip-blocks',
  machines: 'GET /bmc/v1/servers',
  machine: 'GET /bmc/v1/servers/{id}',
  token: 'POST /auth/realms/BMC/protocol/openid-connect/token',
  tags: 'GET /tag-manager/v1/tags',
  createTag: 'POST /tag-manager/v1/tags',
  mark: 'PUT /ips/v1/ip-blocks/{id}/tags',
  peerGroups: 'GET /networks/v1/bgp-peer-groups',
  createPeerGroup: 'POST /networks/v1/bgp-peer-groups',
}

/** The same as the contract wants it. The client has its token and the names of its tags already. */
export async function startStage(unknowns: Partial<UnknownBehaviour>): Promise<PasswordStage> {
  const { control, cloudWith, ...simulator } = await startCloud({ unknowns })
  const { devices } = control
  const cloud = cloudWith(secret)
  const { id } = await cloud.reserve({ location, marks: { usage: '', cluster: '', service: '' } }, neverAborted)
  control.reservations.vanish(id)
  control.calls.clear()
  return {
    cloud,
    withUnknownKey: cloudWith(unknownSecret),
    withReadOnlyKey: cloudWith(readOnlySecret),
    withForeignKey: cloudWith(foreignSecret),
    keys: [secret, unknownSecret, readOnlySecret, foreignSecret],
    location,
    refusesForeignKey: false,
    control,
    routes,
    machines: {
      add: (hostname) => String(devices.add({ hostname })['id']),
      turnOff: (one) => void devices.powerOff(one),
      turnOn: (one) => void devices.powerOn(one),
      reinstall: (one) => void devices.setStatus(one, 'reinstating'),
      remove: (one) => devices.remove(one),
      shows: { privateNetwork: false },
      async lend(machine, address) {
        const { id: block } = (await cloud.reservations({}, neverAborted)).find((one) => one.address === address) ?? {}
        control.reservations.assign(block ?? '', machine)
      },
    },
    peering: {
      routes: {
        project: routes.peerGroups,
        enable: routes.createPeerGroup,
        machines: routes.peerGroups,
        enableOn: routes.machines,
        peers: routes.machines,
      },
      chosenAsn: undefined,
      peerAsn: 65_400,
      isOfAll: true,
      makesPassword: true,
    },
    password: 'Secret-1234',
    [Symbol.asyncDispose]: simulator[Symbol.asyncDispose],
  }
}
