import type { Report } from './reconcile-key.ts'
import type { Key, KubeObject } from '../../kube/objects.ts'
import { AddressInUse } from '../../ledger/record/address-use.ts'
import type { Recorder } from '../../telemetry/event-recorders.ts'
import type { EventReason } from '../../telemetry/events/catalogue.ts'

export type FailureEventOptions = {
  events: Recorder
  /** The object of a key; undefined if it no longer exists. */
  find: (key: Key) => KubeObject | undefined
  reason: EventReason
  /** The start of the message. */
  prefix?: string
}

/** Reports every failed reconcile as a warning Event on its object, and on the Services that use its address. */
export function failureEvent({ events, find, reason, prefix = '' }: FailureEventOptions): Report {
  return (key, message, error) => {
    const object = find(key)
    if (object) events.record(object, { type: 'Warning', reason, message: `${prefix}${message}` })
    // Those who keep the address from being released read it as well.
    for (const { service } of error instanceof AddressInUse ? error.users : []) {
      if (service) events.record(service, { type: 'Warning', reason: 'AddressInUse', message })
    }
  }
}
