const text = { type: 'string' }
const time = { type: 'string', format: 'date-time' }

const generation = { type: 'integer', format: 'int64', minimum: 0 }

/** The status of a record before its first reconcile. Without it, tools would take a new object for a finished one. */
const pending = {
  type: 'Ready',
  status: 'Unknown',
  reason: 'Pending',
  message: 'eip-admission has not looked at it yet',
  lastTransitionTime: '1970-01-01T00:00:00Z',
}

const condition = {
  type: 'object',
  required: ['type', 'status', 'reason', 'message', 'lastTransitionTime'],
  properties: {
    type: {
      ...text,
      maxLength: 316,
      description:
        'Ready: the address is in use, can be claimed, or is retained. ' +
        'Stalled: a person must change something; it is absent otherwise. ' +
        'Accepted: the provider has accepted the request for the address. ' +
        'Reserved: the provider has granted the address. Assigned: a stored Service holds the address.',
    },
    status: { ...text, enum: ['True', 'False', 'Unknown'], description: 'Whether the condition is met.' },
    reason: { ...text, description: 'Why, in one word.' },
    message: { ...text, description: 'Why, in a sentence.' },
    lastTransitionTime: { ...time, description: 'When status last changed.' },
    observedGeneration: { ...generation, description: 'The `metadata.generation` that the condition is about.' },
  },
}

const step = {
  type: 'object',
  required: ['time', 'phase', 'writer'],
  properties: {
    time: { ...time, description: 'When it was written.' },
    phase: { ...text, description: 'The phase from then on.' },
    message: { ...text, description: 'What was done, or why nothing could be done.' },
    writer: { ...text, description: 'The process that wrote it.' },
    request: { ...text, description: 'The review for which it was written. The log has it in the field `request`.' },
  },
}

/** The schema of `status`: our knowledge about the address. */
export const elasticIPStatus = {
  description: 'What eip-admission knows of the address. Nothing else writes it.',
  type: 'object',
  default: { conditions: [pending] },
  properties: {
    observedGeneration: { ...generation, description: 'The `metadata.generation` that this status is about.' },
    phase: {
      ...text,
      enum: ['Requested', 'Reserved', 'Bound', 'Releasing', 'Released', 'Available'],
      description:
        'Requested: the provider has not granted the address yet; message has the reason. ' +
        'Reserved: the address is reserved, but no stored Service holds it yet. Bound: a Service holds the address. ' +
        'Releasing: the Service no longer holds the address, and its reservation is about to be deleted. ' +
        'Released: the Service no longer exists, and reclaimPolicy Retain keeps the reservation. ' +
        'Available: a provisioned or warm address that a Service can claim.',
    },
    address: { ...text, description: 'The public IP address, once the provider has granted it.' },
    reservationID: { ...text, description: "The provider's id of the reservation, once it is known." },
    requestInFlight: {
      description:
        'A request to the provider that may still succeed. While it is set, no request is sent that could ' +
        'reserve a second address.',
      type: 'object',
      required: ['sender', 'sentAt'],
      properties: {
        sender: { ...text, description: 'The process that sent the request.' },
        sentAt: { ...time, description: 'When it sent the request.' },
      },
    },
    deletionRequestedAt: {
      ...time,
      description:
        'When eip-admission requested the deletion of the reservation. From then on no Service may use the address.',
    },
    conditions: {
      description: 'The progress of the address, with the time and the reason of each change.',
      type: 'array',
      items: condition,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['type'],
    },
    message: { ...text, description: 'Why the address is not there yet, or what is wrong and what to do about it.' },
    history: {
      description: 'The last changes, the newest one last. `kubectl eip why` shows them.',
      type: 'array',
      maxItems: 10,
      items: step,
      'x-kubernetes-list-type': 'atomic',
    },
  },
}
