/** The name of the taint that keeps pods from a node whose machine is not known yet. */
export const uninitialized = 'node.cloudprovider.kubernetes.io/uninitialized'

/** A Service as a person writes it. */
export const service = (name: string, annotations: Record<string, string>) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, annotations },
  spec: { type: 'LoadBalancer', selector: { app: name }, ports: [{ port: 80 }] },
})

/** As a kubelet with --cloud-provider=external registers itself: nothing is scheduled there until its machine is found. */
export const node = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, labels: { 'kubernetes.io/hostname': name } },
  spec: { taints: [{ key: uninitialized, value: 'true', effect: 'NoSchedule' }] },
})
