import { randomUUID } from 'node:crypto'
import type { Service } from '../kube/objects.ts'

/** Reviews of an update of a settled Service: unchanged, without what we wrote, or with another class. */
export function reviewsOf(stored: Service): Record<'no-op' | 'restore' | 'ignored', string> {
  const { finalizers: _finalizers, annotations: _annotations, ...metadata } = stored.metadata
  const { loadBalancerIP: _address, ...spec } = stored.spec
  const others = { ...stored, spec: { ...stored.spec, loadBalancerClass: 'example.com/other' } }
  return {
    'no-op': update(stored, stored),
    restore: update({ ...stored, metadata, spec }, stored),
    ignored: update(others, others),
  }
}

function update(object: Service, oldObject: Service): string {
  const { name, namespace } = oldObject.metadata
  const kind = { group: '', version: 'v1', kind: 'Service' }
  const resource = { group: '', version: 'v1', resource: 'services' }
  return JSON.stringify({
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    request: {
      uid: randomUUID(),
      kind,
      resource,
      requestKind: kind,
      requestResource: resource,
      name,
      namespace,
      operation: 'UPDATE',
      userInfo: { username: 'gitops', uid: 'gitops', groups: ['system:authenticated'] },
      object,
      oldObject,
      dryRun: false,
      options: { kind: 'UpdateOptions', apiVersion: 'meta.k8s.io/v1', fieldManager: 'gitops' },
    },
  })
}
