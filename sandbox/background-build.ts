import type { BuildOptions } from './go-programs.ts'
import { showProgress } from './progress.ts'

/** A build that goes on while other work is done. */
export type BackgroundBuild<T> = {
  ready: Promise<T>
  /** Waits for the end of the build, and shows its progress meanwhile. */
  wait(): Promise<T>
}

/** Starts a build whose progress stays hidden until somebody waits for it. */
export function buildInBackground<T>(
  step: string,
  { build, signal }: { build: (options: BuildOptions) => Promise<T>; signal: AbortSignal },
): BackgroundBuild<T> {
  const progress = showProgress(step, { isHidden: true })
  const ready = build({ progress, signal }).finally(() => progress.done())
  // Who waits sees the error; a build that nobody needs may fail.
  ready.catch(() => {})
  return {
    ready,
    wait() {
      progress.show()
      return ready
    },
  }
}
