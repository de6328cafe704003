/**
 * How many cases show a property: always the same ones, so that only a change can cause a failure. CASES=5000 tries
 * more, and FROM=2 others.
 */
export function runs(usual: number): { numRuns: number; seed: number } {
  return { numRuns: Number(process.env['CASES'] ?? usual), seed: Number(process.env['FROM'] ?? 1) }
}
