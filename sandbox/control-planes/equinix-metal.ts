import { randomUUID } from 'node:crypto'
import type { Json } from '../clouds/control.ts'
import { startEquinixMetal } from '../clouds/equinix-metal/server.ts'
import type { Cloud, CloudOptions } from './cloud.ts'
import { makeConsole } from './console.ts'
import { makeTokens } from './tokens.ts'

type Assignment = { id: string; address: string; address_family: number; public: boolean }

const tag = 'control-plane-of-the-rig'
const assignmentsOf = (device: Json | undefined) => (device?.['ip_addresses'] ?? []) as Assignment[]

/** Opens a simulated Equinix Metal with running devices; its address is assigned by DELETE, then POST. */
export async function openEquinixMetal({ host, tls, ca, names }: CloudOptions): Promise<Cloud> {
  const project = randomUUID()
  const { tokens, tokenOf } = makeTokens([...names, 'console'], project)
  const { url, control, close } = await startEquinixMetal({ host, tls, projects: [{ id: project }], tokens })
  const console = makeConsole({ url, ca, headers: { 'x-auth-token': tokenOf('console') } })
  const machines = names.map((name) => {
    const device = control.devices.add({ hostname: name })
    const own = assignmentsOf(device).filter((one) => one.address_family === 4)
    const addressOf = (isPublic: boolean) => own.find((one) => one.public === isPublic)?.address ?? ''
    return { name, id: String(device['id']), privateAddress: addressOf(false), publicAddress: addressOf(true) }
  })
  const order = { type: 'public_ipv4', quantity: 1, metro: 'da', tags: [tag], fail_on_approval_required: true }
  const reservation = await console('POST', `/projects/${project}/ips`, order)
  const address = String(reservation['address'] ?? reservation['network'])
  const assignments = () =>
    control.devices.all().flatMap((device) =>
      assignmentsOf(device)
        .filter((one) => one.address === address)
        .map(({ id }) => ({ id, name: String(device['hostname']) })),
    )
  return {
    url,
    control,
    machines,
    address,
    scheme: 'equinixmetal://',
    flags: ['--cloud-provider=equinixmetal'],
    env: (machine) => ({ METAL_API_KEY: tokenOf(machine), METAL_PROJECT_ID: project, METAL_EIP_TAG: tag }),
    holders: () => assignments().map(({ name }) => name),
    async assign(machine) {
      for (const { id } of assignments()) await console('DELETE', `/ips/${id}`)
      const target = machines.find(({ name }) => name === machine)
      if (target) await console('POST', `/devices/${target.id}/ips`, { address: `${address}/32` })
    },
    writes: ['DELETE /ips/{id}', 'POST /devices/{id}/ips'],
    list: 'GET /projects/{id}/ips',
    close,
  }
}
