import type { BuildOptions } from './go-programs.ts'
import { showProgress } from './progress.ts'

/** A build that runs in the background. */
export type BackgroundBuild<T> = {
  ready: Promise<T>
  /** Waits for the end of the build, and shows its progress meanwhile. */
  wait(): Promise<T>
}

/** Starts a build whose progress stays hidden until a caller waits for it. */
export function buildInBackground<T>(
  step: string,
  { build, signal }: { build: (options: BuildOptions) => Promise<T>; signal: AbortSignal },
): BackgroundBuild<T> {
  const progress = showProgress(step, { isHidden: true })
  const ready = build({ progress, signal }).finally(() => progress.done())
  // A caller that waits gets the error. A build that nobody waits for may fail.
  ready.catch(() => {})
  return {
    ready,
    wait() {
      progress.show()
      return ready
    },
  }
}
