import type { Key } from '../kube/objects.ts'

/** What a look at one object ended with: all is well, or look again after a while although nothing may have changed. */
export type Outcome = { againInMs?: number }

/** Brings one object closer to what is wanted. It is told which object, never what happened to it. */
export type Reconciler = {
  name: string
  reconcile(key: Key, signal: AbortSignal): Promise<Outcome>
}

/** A problem that no repetition mends: it is said, not retried, until the object changes. */
export class Terminal extends Error {
  override readonly name = 'Terminal'
}
