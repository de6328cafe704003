import type { Administrator } from './administrator.ts'

export type Machine = { name: string; address: string }

/** Does what a kubelet does when it registers its node and when a pod becomes ready. */
export async function registerMachine(administrator: Administrator, { name, address }: Machine) {
  await administrator.apply({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { 'kubernetes.io/hostname': name } },
    spec: {},
  })
  const pod = `web-${name}`
  await administrator.apply({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: pod, namespace: 'default', labels: { app: 'web' } },
    spec: {
      nodeName: name,
      automountServiceAccountToken: false,
      containers: [{ name: 'web', image: 'none.invalid/none' }],
    },
  })
  const conditions = ['Ready', 'ContainersReady'].map((type) => ({ type, status: 'True' }))
  const status = { phase: 'Running', podIP: address, podIPs: [{ ip: address }], conditions }
  await administrator.run([
    'patch',
    'pod',
    pod,
    '--subresource=status',
    '--type=merge',
    '-p',
    JSON.stringify({ status }),
  ])
}
