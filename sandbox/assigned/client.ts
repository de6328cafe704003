// node client.ts <url> <interval in ms>: sends a request at every interval, each on a new connection, and prints a line
// for each.
import { setTimeout as sleep } from 'node:timers/promises'

const [url = '', intervalMs = ''] = process.argv.slice(2)

async function ask(): Promise<void> {
  const askedMs = Date.now()
  const result = await fetch(url, { signal: AbortSignal.timeout(2_000), headers: { connection: 'close' } })
    .then((response) => response.json() as Promise<object>)
    .catch((error: Error) => ({ error: (error.cause instanceof Error ? error.cause : error).message }))
  console.log(JSON.stringify({ askedMs, answeredMs: Date.now(), ...result }))
}

for (;;) {
  void ask()
  await sleep(Number(intervalMs))
}
