import { once } from 'node:events'

/** Runs a server until SIGTERM or SIGINT; prints `ready` as one line of JSON when the server listens. */
export async function runAsProcess(start: () => Promise<{ ready: object; close: () => Promise<void> }>): Promise<void> {
  try {
    const { ready, close } = await start()
    console.log(JSON.stringify(ready))
    await Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')])
    await close()
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error))
    process.exitCode = 1
  }
}
