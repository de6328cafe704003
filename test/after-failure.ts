// Steps after a test that failed: they show what explains the failure, and undo what the test left for the next ones.
type Deed = () => Promise<unknown> | void

const deeds = new Set<Deed>()

/** Does this after every test of the file that fails. */
export function afterFailure(deed: Deed): void {
  deeds.add(deed)
}

/** Does everything that the file wants after a failure; what fails of it is printed. */
export async function doAfterFailure(): Promise<void> {
  for (const deed of deeds) {
    try {
      await deed()
    } catch (error) {
      console.error('after the failed test:', error)
    }
  }
}
