import type { Cloud } from '../clouds/ports/cloud.ts'
import type { Log } from '../kube/log.ts'

/** The same cloud; what it says about single reservations is logged whole. They hold no secret. */
export function loggedCloud(cloud: Cloud, log: Log): Cloud {
  return {
    ...cloud,
    async reserve(request, signal) {
      const reservation = await cloud.reserve(request, signal)
      log.debug({ reservation: JSON.stringify(reservation) }, 'reserved')
      return reservation
    },
    async reservation(id, signal) {
      const reservation = await cloud.reservation(id, signal)
      log.debug({ id, reservation: JSON.stringify(reservation) }, 'reservation read')
      return reservation
    },
  }
}
