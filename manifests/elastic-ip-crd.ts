import { elasticIPSpec } from './elastic-ip-spec.ts'
import { elasticIPStatus } from './elastic-ip-status.ts'

const rules = [
  {
    // The ledger finds a Service's records by their names. Every other name is a provisioned or warm ElasticIP.
    rule:
      "!self.metadata.name.matches('^[^.]+[.][^.]+([.]ipv[46])?$') || (has(self.spec.claimRef) && " +
      "(self.metadata.name + '.').startsWith(self.spec.claimRef.__namespace__ + '.' + self.spec.claimRef.name + '.'))",
    message:
      'a name <namespace>.<service>, alone or with .ipv4 or .ipv6, is the record of that Service: restore its claimRef, ' +
      'or choose a name without a dot',
  },
  {
    rule:
      '!(has(oldSelf.status) && has(oldSelf.status.reservationID) && has(self.spec.reservationID)) || ' +
      '(has(oldSelf.spec.reservationID) && self.spec.reservationID == oldSelf.spec.reservationID)',
    message:
      'reservationID is fixed once the address is known: restore it, or delete this ElasticIP and create another one',
  },
  {
    // The provider cannot move a reservation.
    rule:
      '!(has(oldSelf.status) && has(oldSelf.status.reservationID)) || ' +
      '(has(self.spec.location) ? self.spec.location : "") == (has(oldSelf.spec.location) ? oldSelf.spec.location : "")',
    message:
      'location is fixed once the address is reserved: restore it, or delete this ElasticIP and create another one',
  },
  {
    // Only the provider changes these. If both are removed, the provider is asked again.
    rule:
      '!(has(oldSelf.status) && has(oldSelf.status.address) && has(self.status) && has(self.status.address)) || ' +
      '(self.status.address == oldSelf.status.address && (!has(oldSelf.status.reservationID) || ' +
      '(has(self.status.reservationID) && self.status.reservationID == oldSelf.status.reservationID)))',
    message:
      'address and reservationID are fixed once the address is known: undo the edit. To query the provider again, ' +
      'remove both',
  },
  {
    rule:
      '!(has(oldSelf.status) && has(oldSelf.status.address)) || ' +
      '(has(self.spec.ipFamily) ? self.spec.ipFamily : "") == (has(oldSelf.spec.ipFamily) ? oldSelf.spec.ipFamily : "")',
    message: 'ipFamily is fixed once the address is known: restore it, or delete this ElasticIP and create another one',
  },
]

const columns = [
  { name: 'Address', type: 'string', jsonPath: '.status.address' },
  { name: 'Location', type: 'string', jsonPath: '.spec.location' },
  { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
  { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
  { name: 'Reason', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].reason' },
  { name: 'Reclaim', type: 'string', jsonPath: '.spec.reclaimPolicy' },
  { name: 'Namespace', type: 'string', jsonPath: '.spec.claimRef.namespace' },
  { name: 'Service', type: 'string', jsonPath: '.spec.claimRef.name' },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  { name: 'Message', type: 'string', jsonPath: '.status.message', priority: 1 },
]

/** The fields by which `kubectl get --field-selector` selects; API servers offer them from 1.31 on. */
const selectable = [
  '.status.phase',
  '.status.address',
  '.spec.claimRef.namespace',
  '.spec.claimRef.name',
  '.spec.location',
]

/** The CustomResourceDefinition of ElasticIP. */
export const elasticIPDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'elasticips.eip-admission.dev' },
  spec: {
    group: 'eip-admission.dev',
    scope: 'Cluster',
    names: {
      kind: 'ElasticIP',
      listKind: 'ElasticIPList',
      plural: 'elasticips',
      singular: 'elasticip',
      shortNames: ['eip'],
    },
    versions: [
      {
        name: 'v1alpha1',
        served: true,
        storage: true,
        subresources: { status: {} },
        additionalPrinterColumns: columns,
        selectableFields: selectable.map((jsonPath) => ({ jsonPath })),
        schema: {
          openAPIV3Schema: {
            description:
              'A public IP address of the project at the provider, and the Service that holds it: to an address what a ' +
              'PersistentVolume is to a disk.',
            type: 'object',
            required: ['spec'],
            properties: { spec: elasticIPSpec, status: elasticIPStatus },
            'x-kubernetes-validations': rules,
          },
        },
      },
    ],
  },
}
