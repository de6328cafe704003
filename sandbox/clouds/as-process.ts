import { once } from 'node:events'

/** Runs a server as the whole process: one JSON line on stdout when it serves, and an end with SIGTERM or SIGINT. */
export async function asProcess(start: () => Promise<{ say: object; close: () => Promise<void> }>): Promise<void> {
  try {
    const { say, close } = await start()
    console.log(JSON.stringify(say))
    await Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')])
    await close()
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error))
    process.exitCode = 1
  }
}
