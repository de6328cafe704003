/** The manifest of an ElasticIP as a person writes it. */
export function provisioned(name: string, reservationID: string, reclaimPolicy?: 'Delete' | 'Retain'): object {
  return {
    apiVersion: 'eip-admission.dev/v1alpha1',
    kind: 'ElasticIP',
    metadata: { name },
    spec: { reservationID, ...(reclaimPolicy ? { reclaimPolicy } : {}) },
  }
}

/** What the ElasticIPs of a full warm pool are called. */
export function warmNames(place: string, size: number): string[] {
  return Array.from({ length: size }, (_, n) => `warm-${place.toLowerCase()}-${n + 1}`)
}
