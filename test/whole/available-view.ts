/** The manifest of a provisioned ElasticIP as an operator writes it. */
export function provisioned(name: string, reservationID: string, reclaimPolicy?: 'Delete' | 'Retain'): object {
  return {
    apiVersion: 'eip-admission.dev/v1alpha1',
    kind: 'ElasticIP',
    metadata: { name },
    spec: { reservationID, ...(reclaimPolicy ? { reclaimPolicy } : {}) },
  }
}

/** The names of the ElasticIPs in a full warm pool. */
export function warmNames(place: string, size: number): string[] {
  return Array.from({ length: size }, (_, n) => `warm-${place.toLowerCase()}-${n + 1}`)
}
