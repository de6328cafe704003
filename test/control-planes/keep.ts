// A control plane that stays up between runs of tests, so that one test on an API server starts at once. Call it as
// `make test-control-plane` in another terminal. The first worker of each run borrows it, unless another run has it.
import { rmSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { keptFile, startShared } from './lender.ts'

const { dir, stop } = await startShared()
writeFileSync(keptFile, dir)
console.log('The control plane for tests is ready. Tests in other terminals use it until you press Ctrl-C.')
await Promise.race(['SIGINT', 'SIGTERM'].map((signal) => once(process, signal)))
rmSync(keptFile, { force: true })
await stop()
