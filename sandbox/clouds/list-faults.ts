import type { Fault } from './faults.ts'

/** A list as a fault leaves it. Shuffled anew at every call: pages of such a list overlap, and have gaps. */
export function applyListFault<T>(items: T[], fault: Fault | undefined): T[] {
  if (fault?.answer === 'empty-list') return []
  return fault?.answer === 'shuffled-list' ? shuffled(items) : items
}

/** How many items a page holds: what was asked for, or what a fault leaves of it. */
export function applyPageSizeFault(asked: number, fault: Fault | undefined): number {
  return fault?.answer === 'short-pages' ? Math.min(asked, fault.perPage ?? asked) : asked
}

function shuffled<T>(items: T[]): T[] {
  return items
    .map((item) => ({ item, place: Math.random() }))
    .toSorted((one, other) => one.place - other.place)
    .map(({ item }) => item)
}
