import type { World } from './world.ts'

/** Orders an address as a person does it in the vendor's console: without a tag of ours. */
export async function order({ cloud, project, token }: Pick<World, 'cloud' | 'project' | 'token'>) {
  const response = await fetch(`${cloud.url}/projects/${project}/ips`, {
    method: 'POST',
    headers: { 'x-auth-token': token, 'content-type': 'application/json' },
    body: JSON.stringify({ type: 'public_ipv4', quantity: 1, metro: 'da' }),
  })
  return (await response.json()) as { id: string; address: string }
}

/** The manifest of an ElasticIP as a person writes it. */
export function provisioned(name: string, reservationID: string, reclaimPolicy?: 'Delete' | 'Retain'): object {
  return {
    apiVersion: 'eip-admission.dev/v1alpha1',
    kind: 'ElasticIP',
    metadata: { name },
    spec: { reservationID, ...(reclaimPolicy ? { reclaimPolicy } : {}) },
  }
}
