// Holds the lock that its argument names until it is asked to end, and says when it has it.
import { once } from 'node:events'
import { exclusively } from '../../../sandbox/exclusive.ts'

const [, , name = ''] = process.argv
await exclusively(name, async () => {
  console.log('held')
  await once(process.stdin.resume(), 'end')
})
