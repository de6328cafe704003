import type { KubeObject } from '../kube/objects.ts'

export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'

/** The request of an AdmissionReview (admission.k8s.io/v1): the fields that we read. */
export type AdmissionRequest<T extends KubeObject = KubeObject> = {
  uid: string
  operation: AdmissionOperation
  namespace?: string
  name?: string
  subResource?: string
  dryRun?: boolean
  userInfo?: { username?: string }
  options?: { fieldManager?: string } | null
  object: T | null
  oldObject: T | null
}

export type AdmissionReview = {
  apiVersion: 'admission.k8s.io/v1'
  kind: 'AdmissionReview'
  request: AdmissionRequest
}

const object = { type: ['object', 'null'], properties: { metadata: { type: 'object' } }, required: ['metadata'] }

/** The JSON schema of the envelope. The API server has validated the objects inside it. */
export const reviewSchema = {
  type: 'object',
  required: ['apiVersion', 'kind', 'request'],
  properties: {
    apiVersion: { const: 'admission.k8s.io/v1' },
    kind: { const: 'AdmissionReview' },
    request: {
      type: 'object',
      required: ['uid', 'operation', 'object'],
      properties: {
        uid: { type: 'string', minLength: 1, maxLength: 128 },
        operation: { enum: ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] },
        namespace: { type: 'string' },
        name: { type: 'string' },
        subResource: { type: 'string' },
        dryRun: { type: 'boolean' },
        options: { type: ['object', 'null'], properties: { fieldManager: { type: 'string' } } },
        userInfo: { type: 'object', properties: { username: { type: 'string' } } },
        object,
        oldObject: object,
      },
    },
  },
} as const
