const text = { type: 'string' }
const time = { type: 'string', format: 'date-time' }

const claimRef = {
  description: 'The Service that the address is reserved for. The uid is set once the Service is stored.',
  type: 'object',
  required: ['namespace', 'name'],
  properties: {
    namespace: { ...text, maxLength: 63 },
    name: { ...text, maxLength: 63 },
    uid: text,
    elasticIPUID: {
      ...text,
      description: 'On a provisioned or warm address: UID of the ElasticIP that claimed it for this Service.',
    },
  },
  'x-kubernetes-validations': [
    {
      // `namespace` is a word of CEL's own.
      rule: 'self.__namespace__ == oldSelf.__namespace__ && self.name == oldSelf.name',
      message: 'an address does not change its Service',
    },
  ],
}

const source = {
  description: 'The ElasticIP that this address comes from. Absent where the address was reserved for this Service.',
  type: 'object',
  required: ['name', 'type'],
  properties: {
    name: { ...text, maxLength: 253, description: 'Name of that ElasticIP.' },
    type: {
      ...text,
      enum: ['Provisioned', 'WarmPool'],
      description:
        'Provisioned: that ElasticIP keeps the reservation and gets the address back. ' +
        'WarmPool: this ElasticIP takes the reservation over, and the other one is deleted.',
    },
  },
}

const spec = {
  type: 'object',
  properties: {
    claimRef,
    location: { ...text, maxLength: 63, description: "Where the address is reserved, by the cloud's code." },
    reclaimPolicy: {
      ...text,
      enum: ['Delete', 'Retain'],
      // Nobody asks for a deletion by saying nothing. Records that we write always say what they want.
      default: 'Retain',
      description: 'What becomes of the address when its Service goes.',
    },
    reservationID: { ...text, maxLength: 128, description: 'A reservation that exists already.' },
    source,
  },
  'x-kubernetes-validations': [
    {
      rule: 'has(self.location) || has(self.reservationID) || has(self.source)',
      message: 'say where to reserve (location), or what is reserved (reservationID)',
    },
  ],
}

const condition = {
  type: 'object',
  required: ['type', 'status', 'reason', 'message', 'lastTransitionTime'],
  properties: {
    type: { ...text, enum: ['Requested', 'Reserved', 'Assigned', 'Mapped'] },
    status: { ...text, enum: ['True', 'False', 'Unknown'] },
    reason: text,
    message: text,
    lastTransitionTime: time,
  },
}

const status = {
  type: 'object',
  properties: {
    phase: { ...text, enum: ['Requested', 'Reserved', 'Bound', 'Releasing', 'Released', 'Available'] },
    address: text,
    reservationID: text,
    requestInFlight: {
      description: 'The request to the cloud that may still be in flight.',
      type: 'object',
      required: ['sender', 'sentAt'],
      properties: {
        sender: { ...text, description: 'The process that sent it.' },
        sentAt: { ...time, description: 'When it was sent.' },
      },
    },
    deletionRequestedAt: {
      ...time,
      description: 'When the deletion of the reservation was requested. From then on nobody may use the address.',
    },
    conditions: {
      type: 'array',
      items: condition,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['type'],
    },
    message: text,
  },
}

const rules = [
  {
    // A record is found by its name; any other name, with a claimRef or without, is one of the stock.
    rule:
      "!self.metadata.name.matches('^[^.]+[.][^.]+$') || (has(self.spec.claimRef) && " +
      "self.metadata.name == self.spec.claimRef.__namespace__ + '.' + self.spec.claimRef.name)",
    message: 'a name of two parts, <namespace>.<service>, is the record of that Service; choose another one',
  },
  {
    rule:
      '!(has(oldSelf.status) && has(oldSelf.status.reservationID) && has(self.spec.reservationID)) || ' +
      '(has(oldSelf.spec.reservationID) && self.spec.reservationID == oldSelf.spec.reservationID)',
    message: 'reservationID is fixed while the address is in the ledger: delete this ElasticIP, and create another one',
  },
  {
    // A reservation cannot move, so a record that says otherwise would lie.
    rule:
      '!(has(oldSelf.status) && has(oldSelf.status.reservationID)) || ' +
      '(has(self.spec.location) ? self.spec.location : "") == (has(oldSelf.spec.location) ? oldSelf.spec.location : "")',
    message: 'location is fixed once the address is reserved',
  },
]

const columns = [
  { name: 'Address', type: 'string', jsonPath: '.status.address' },
  { name: 'Location', type: 'string', jsonPath: '.spec.location' },
  { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
  { name: 'Namespace', type: 'string', jsonPath: '.spec.claimRef.namespace' },
  { name: 'Service', type: 'string', jsonPath: '.spec.claimRef.name' },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  { name: 'Message', type: 'string', jsonPath: '.status.message', priority: 1 },
]

/** The CustomResourceDefinition of ElasticIP: who holds which address. */
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
        schema: {
          openAPIV3Schema: {
            description: 'A public address of the cloud, and the Service that holds it.',
            type: 'object',
            required: ['spec'],
            properties: { spec, status },
            'x-kubernetes-validations': rules,
          },
        },
      },
    ],
  },
}
