import type { Kubectl } from '../kubectl.ts'
import type { Machine } from './machine.ts'

type Cluster = { machines: Machine[]; cloud: { scheme: string }; kubectlAt: (machine: Machine) => Kubectl }

/** Registers the machines' nodes as kubeadm's kubelets and the node controller do: with role, provider ID and addresses. */
export async function registerNodes({ machines, cloud, kubectlAt }: Cluster): Promise<void> {
  const [first] = machines
  if (!first) return
  const kubectl = kubectlAt(first)
  const run = async (args: string[], manifest?: object) => {
    const { code, stderr } = await kubectl(args, manifest)
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr}`)
  }
  await run(['create', '-f', '-'], {
    apiVersion: 'v1',
    kind: 'List',
    items: machines.map(({ name, id }) => ({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, labels: { 'kubernetes.io/hostname': name, 'node-role.kubernetes.io/control-plane': '' } },
      spec: { providerID: `${cloud.scheme}${id}` },
    })),
  })
  for (const { name, privateAddress, publicAddress } of machines) {
    const addresses = [
      { type: 'Hostname', address: name },
      { type: 'InternalIP', address: privateAddress },
      { type: 'ExternalIP', address: publicAddress },
    ]
    const status = { addresses, conditions: [{ type: 'Ready', status: 'True' }] }
    await run(['patch', 'node', name, '--subresource=status', '--type=merge', '-p', JSON.stringify({ status })])
  }
}
