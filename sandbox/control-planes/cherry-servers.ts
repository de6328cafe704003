import type { Json } from '../clouds/control.ts'
import { startCherryServers } from '../clouds/cherry-servers/server.ts'
import type { Cloud, CloudMachine, CloudOptions } from './cloud.ts'
import { makeConsole } from './console.ts'
import { makeTokens } from './tokens.ts'

const region = 'LT-Siauliai'
const project = 218_450
const tags = { role: 'control-plane-of-the-rig' }

/** Opens a simulated Cherry Servers with running servers; its address is assigned by one PUT. */
export async function openCherryServers({ host, tls, ca, names }: CloudOptions): Promise<Cloud> {
  const { tokens, tokenOf } = makeTokens([...names, 'console'], project)
  const callLimit = { calls: 4, perMs: 1000 }
  const { url, control, close } = await startCherryServers({
    host,
    tls,
    projects: [{ id: project }],
    tokens,
    callLimit,
  })
  const console = makeConsole({ url, ca, headers: { authorization: `Bearer ${tokenOf('console')}` } })
  const machines = names.map((name) => machineOf(name, control.devices.add({ hostname: name, region })))
  const ordered = await console('POST', `/projects/${project}/ips`, { region, tags })
  const reservation = String(ordered['id'])
  return {
    url,
    control,
    machines,
    address: String(ordered['address']),
    scheme: 'cherryservers://',
    flags: ['--cloud-provider=cherryservers'],
    env: (machine) => ({
      CHERRY_API_KEY: tokenOf(machine),
      CHERRY_PROJECT_ID: String(project),
      CHERRY_FIP_TAG: `role=${tags.role}`,
    }),
    holders() {
      const shown = control.reservations.all().find(({ id }) => id === reservation)
      const target = shown?.['targeted_to'] as Json | undefined
      return machines.filter(({ id }) => id === String(target?.['id'])).map(({ name }) => name)
    },
    async assign(machine) {
      const target = machines.find(({ name }) => name === machine)
      await console('PUT', `/ips/${reservation}`, { targeted_to: target?.id ?? '0' })
    },
    writes: ['PUT /ips/{id}'],
    list: 'GET /projects/{id}/ips',
    close,
  }
}

function machineOf(name: string, server: Json): CloudMachine {
  const own = (server['ip_addresses'] ?? []) as { address: string; type: string }[]
  const addressOf = (type: string) => own.find((one) => one.type === type)?.address ?? ''
  return {
    name,
    id: String(server['id']),
    privateAddress: addressOf('private-ip'),
    publicAddress: addressOf('primary-ip'),
  }
}
