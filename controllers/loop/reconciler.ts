import type { Key } from '../../kube/objects.ts'

/** What a reconcile of one key ended with: it is settled, or it is due again although nothing may have changed. */
export type Outcome = {
  againInMs?: number
  /** What it did, by the names of the steps. */
  steps?: readonly string[]
}

/** Brings one object closer to what is wanted. It gets the key of the object, never the event that happened to it. */
export type Reconciler = {
  name: string
  reconcile(key: Key, signal: AbortSignal): Promise<Outcome>
  /** The request that led to the object, for the log; by a cache. */
  requestOf?(key: Key): string | undefined
}

/** A problem that no retry solves: it is reported once and waits until the object changes. */
export class Terminal extends Error {
  override readonly name = 'Terminal'
}

/** A key that needs more steps than it can need: another program probably undoes them. */
export class Unsettled extends Error {
  override readonly name = 'Unsettled'

  constructor(what: string) {
    super(
      `${what}. Another program probably undoes these changes: find out what else writes this object. ` +
        'We retry with back-off',
    )
  }
}
