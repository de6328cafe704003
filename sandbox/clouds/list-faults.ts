import type { Fault } from './faults.ts'

/** Applies a fault to a list. A shuffled list has a new order in each call, so its pages overlap and have gaps. */
export function applyListFault<T>(items: T[], fault: Fault | undefined): T[] {
  if (fault?.answer === 'empty-list') return []
  return fault?.answer === 'shuffled-list' ? shuffled(items) : items
}

/** Returns the size of a page: the requested one, or the smaller one of a fault. */
export function applyPageSizeFault(requested: number, fault: Fault | undefined): number {
  return fault?.answer === 'short-pages' ? Math.min(requested, fault.perPage ?? requested) : requested
}

function shuffled<T>(items: T[]): T[] {
  return items
    .map((item) => ({ item, place: Math.random() }))
    .toSorted((one, other) => one.place - other.place)
    .map(({ item }) => item)
}
