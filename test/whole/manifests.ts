type Spec = { [field: string]: unknown }

export type Facts = { namespace?: string; annotations?: Record<string, string>; spec?: Spec }

/** The manifest of a LoadBalancer Service as a user writes it. */
export function loadBalancer(name: string, { namespace, annotations, spec }: Facts = {}): object {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, ...(namespace && { namespace }), ...(annotations && { annotations }) },
    spec: { type: 'LoadBalancer', selector: { app: name }, ports: [{ port: 80 }], ...spec },
  }
}

/** A manifest with generateName. */
export function unnamed(generateName: string): object {
  const { metadata: _named, ...rest } = loadBalancer('unnamed') as { metadata: object }
  return { ...rest, metadata: { generateName } }
}

export const metro = 'metal.equinix.com/eip-metro'
export const facility = 'metal.equinix.com/eip-facility'
export const shown = 'eip-admission.dev/address'
export const reclaim = 'eip-admission.dev/reclaim-policy'
export const chosen = 'eip-admission.dev/elastic-ip'
export const finalizer = 'eip-admission.dev/address-cleanup'
