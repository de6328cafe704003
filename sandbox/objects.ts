/** The taint that keeps pods from a node until its machine is found. */
export const uninitialized = 'node.cloudprovider.kubernetes.io/uninitialized'

/** A Service of type LoadBalancer, as a user writes it. */
export const service = (name: string, annotations: Record<string, string>) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, annotations },
  spec: { type: 'LoadBalancer', selector: { app: name }, ports: [{ port: 80 }] },
})

/** A Node as a kubelet with --cloud-provider=external registers it: tainted until its machine is found. */
export const node = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, labels: { 'kubernetes.io/hostname': name } },
  spec: { taints: [{ key: uninitialized, value: 'true', effect: 'NoSchedule' }] },
})
