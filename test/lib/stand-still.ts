/** Stops this process, timers and all, as a machine does that has no processor for it. */
export function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
