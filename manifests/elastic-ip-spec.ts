const text = { type: 'string' }

const claimRef = {
  description:
    'The Service that this address is for. On a provisioned ElasticIP: leave it empty to let any Service claim the ' +
    'address, or name the one Service that may.',
  type: 'object',
  required: ['namespace', 'name'],
  properties: {
    namespace: { ...text, maxLength: 63, description: 'Namespace of the Service.' },
    name: { ...text, maxLength: 63, description: 'Name of the Service.' },
    uid: { ...text, description: 'UID of the Service. eip-admission sets it once the Service is stored.' },
    elasticIPUID: {
      ...text,
      description:
        'On a provisioned or warm ElasticIP: UID of the ElasticIP that claimed this address for the Service. ' +
        'eip-admission sets it.',
    },
    setByOperator: {
      type: 'boolean',
      description:
        'On a provisioned ElasticIP: an operator named the Service, and the claimRef stays when the Service no longer exists. ' +
        'eip-admission sets it.',
    },
  },
  'x-kubernetes-validations': [
    {
      // `namespace` is a reserved word in CEL.
      rule: 'self.__namespace__ == oldSelf.__namespace__ && self.name == oldSelf.name',
      message:
        'an ElasticIP cannot change its Service: restore namespace and name, or delete the Service to free the address',
    },
  ],
}

const source = {
  description:
    'The ElasticIP whose address this one uses. Absent if the address was reserved for this Service. ' +
    'eip-admission sets it.',
  type: 'object',
  required: ['name', 'type'],
  properties: {
    name: { ...text, maxLength: 253, description: 'Name of that ElasticIP.' },
    type: {
      ...text,
      enum: ['Provisioned', 'WarmPool'],
      description:
        'Provisioned: that ElasticIP keeps the reservation, and is Available again when the Service no longer exists. ' +
        'WarmPool: this ElasticIP takes over the reservation, and that one is deleted.',
    },
  },
}

/** The schema of `spec`: the requested address, and its Service. */
export const elasticIPSpec = {
  description: 'The requested address, and the Service that it is for.',
  type: 'object',
  properties: {
    claimRef,
    location: {
      ...text,
      maxLength: 63,
      description:
        "Where the address is reserved: the provider's code of a metro, facility or region, such as da or eu_nord_1. " +
        'It cannot change once the address is reserved.',
    },
    ipFamily: {
      ...text,
      enum: ['IPv4', 'IPv6'],
      description:
        'The family of the address to reserve; IPv4 if absent. It has no effect if reservationID names the address. ' +
        'It cannot change once the address is known.',
    },
    reclaimPolicy: {
      ...text,
      enum: ['Delete', 'Retain'],
      // An absent field must never cause a deletion. The records that we write always have a value.
      default: 'Retain',
      description:
        'What happens to the reservation when its Service no longer exists or wants no address. ' +
        'Delete: the reservation is deleted at the provider, and the project no longer pays for it. ' +
        'Retain: the project keeps the reservation and pays for it. A provisioned ElasticIP is Available again, any ' +
        'other one is Released.',
    },
    reservationID: {
      ...text,
      maxLength: 128,
      description:
        "The provider's id of a reservation that exists. Set it to provision an address that the project already has. " +
        'It cannot change once status.reservationID is set.',
    },
    allowedNamespaces: {
      description:
        'On a provisioned ElasticIP: the namespaces whose Services may claim the address. Absent: all. A Service that ' +
        'has the address keeps it when its namespace is removed from the list.',
      type: 'array',
      maxItems: 1000,
      items: { ...text, maxLength: 63 },
      'x-kubernetes-list-type': 'set',
    },
    source,
  },
  'x-kubernetes-validations': [
    {
      rule: 'has(self.location) || has(self.reservationID) || has(self.source)',
      message:
        'spec has neither a location nor a reservationID: set reservationID to use a reservation that exists, ' +
        'or location to reserve an address there',
    },
  ],
}
