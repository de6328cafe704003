import { ControlError } from './control-error.ts'

export type Quota = {
  /** Sets how many addresses a project may have, or every project when none is named. */
  set(addresses: number, project?: string): void
  of(project: string): number
}

/** Makes the limits of how many addresses each project may have. */
export function makeQuota(addresses: number): Quota {
  let forAll = addresses
  const own = new Map<string, number>()
  return {
    set(wanted, project) {
      if (!(Number.isInteger(wanted) && wanted >= 0)) throw new ControlError('a quota is a whole number, 0 or more')
      if (project !== undefined) return void own.set(project, wanted)
      own.clear()
      forAll = wanted
    },
    of: (project) => own.get(project) ?? forAll,
  }
}
