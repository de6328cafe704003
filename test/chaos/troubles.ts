import type { Fault } from '../../sandbox/clouds/faults.ts'

/** The deeds of a walk that an operator would be alerted to. */
export type Trouble =
  | 'killed process'
  | 'restarted API server'
  | 'refusing cloud'
  | 'failing cloud'
  | 'failed node'
  | 'other account'
  | 'wrong clock'
  | 'careless person'
  | 'deleted address'
  | 'busy machine'

/** The trouble that a fault of the cloud causes. */
export function troubleOf({ answer, message }: Fault): Trouble {
  const refuses = answer === 401 || answer === 403 || (answer === 422 && message?.includes('quota') === true)
  return refuses ? 'refusing cloud' : 'failing cloud'
}

/** The alerts that a trouble may fire. A short or lucky walk fires fewer; any other alert is unexplained. */
export const explained: Record<Trouble, readonly string[]> = {
  'killed process': [
    'EIPAdmissionRestarts',
    'EIPAdmissionDown',
    'EIPAdmissionNoLeader',
    'EIPAdmissionServicesMissed',
    'EIPAdmissionAddressPending',
  ],
  'restarted API server': [
    'EIPAdmissionAPIServerErrors',
    'EIPAdmissionNoLeader',
    'EIPAdmissionWebhooksNotReached',
    'EIPAdmissionServicesMissed',
    'EIPAdmissionReviewsFail',
  ],
  'refusing cloud': ['EIPAdmissionCloudRefuses'],
  'other account': ['EIPAdmissionOtherProject', 'EIPAdmissionAddressPending', 'EIPAdmissionNoLeader'],
  'wrong clock': [],
  'careless person': [
    'EIPAdmissionAddressesNotAnnounced',
    'EIPAdmissionReservationsUnneeded',
    'EIPAdmissionWebhooksNotReached',
    'EIPAdmissionServicesMissed',
    'EIPAdmissionNoLeader',
    'EIPAdmissionClusterIdInUse',
    'EIPAdmissionReconcilesFail',
    'EIPAdmissionAddressPending',
    'EIPAdmissionReviewsFail',
  ],
  'deleted address': ['EIPAdmissionAddressesNotAnnounced', 'EIPAdmissionAddressPending', 'EIPAdmissionReconcilesFail'],
  // Calls take longer than the short times of the walk allow.
  'busy machine': [
    'EIPAdmissionAPIServerErrors',
    'EIPAdmissionCloudErrors',
    'EIPAdmissionCloudSilent',
    'EIPAdmissionNoLeader',
    'EIPAdmissionAddressPending',
    'EIPAdmissionReconcilesFail',
    'EIPAdmissionReviewsFail',
    'EIPAdmissionReviewsSlow',
    'EIPAdmissionServicesMissed',
    'EIPAdmissionSweepOld',
    'EIPAdmissionWebhooksNotReached',
  ],
  'failed node': ['EIPAdmissionAddressesNotAnnounced', 'EIPAdmissionAnnouncerRefuses'],
  'failing cloud': [
    'EIPAdmissionCloudErrors',
    'EIPAdmissionCloudSilent',
    'EIPAdmissionAddressPending',
    'EIPAdmissionReconcilesFail',
    'EIPAdmissionSweepOld',
  ],
}

/**
 * The alerts that may outlast a trouble. If a person removed a record, a person must decide about its reservation.
 * Other work that keeps the machine busy does not end with the walk.
 */
export const lasting: Partial<Record<Trouble, readonly string[]>> = {
  'careless person': ['EIPAdmissionReservationsUnneeded'],
  'busy machine': explained['busy machine'],
}
