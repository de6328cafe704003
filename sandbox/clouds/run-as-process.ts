import { once } from 'node:events'

/** Runs a server as the whole process: one JSON line on stdout when it serves, and an end with SIGTERM or SIGINT. */
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
