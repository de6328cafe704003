/**
 * Runs `work` at the first call only; later calls wait for the same result. This is for set-up that several tests of a
 * file need.
 */
export function once<T>(work: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined
  return () => (result ??= work())
}
