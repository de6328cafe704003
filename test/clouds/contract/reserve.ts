import type { Reservation } from '../../../clouds/ports/cloud.ts'
import { neverAborted } from '../scripted-server.ts'
import type { Stage } from './stage.ts'

export const marks = { usage: 'test-auto', service: 'l7RnKS8k48oG3Qv3Pxx8FzEMj3X3E5c8JPOIzyLWWdY=', cluster: 'one' }

export const reserve = ({ cloud, location }: Stage, more = {}) =>
  cloud.reserve({ location, marks: { ...marks, ...more } }, neverAborted)

export const list = ({ cloud }: Stage, wanted = {}) => cloud.reservations(wanted, neverAborted)

export const idsOf = (things: Pick<Reservation, 'id'>[]) => things.map(({ id }) => id).toSorted()

/** As many addresses as that, each with a service of its own. */
export async function crowd(stage: Stage, size: number): Promise<string[]> {
  stage.control.quota.set(size)
  const all = Array.from({ length: size }, (_, n) => reserve(stage, { service: `s${n}` }))
  return idsOf(await Promise.all(all))
}
