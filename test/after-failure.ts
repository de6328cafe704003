// Steps after a failed test: they print what may explain the failure, and clean up for the next tests.
type Deed = () => Promise<unknown> | void

const deeds = new Set<Deed>()

/** Registers a deed for every failed test of the file. */
export function afterFailure(deed: Deed): void {
  deeds.add(deed)
}

/** Does everything that the file registered for a failure; prints the deeds that fail. */
export async function doAfterFailure(): Promise<void> {
  for (const deed of deeds) {
    try {
      await deed()
    } catch (error) {
      console.error('after the failed test:', error)
    }
  }
}
