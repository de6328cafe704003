import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { type VendorHosts, startVendorProxy } from './vendor-proxy.ts'

type Started = { ready: object; close: () => Promise<void> }

/** Runs a server until SIGTERM or SIGINT; prints `ready` as one line of JSON when the server listens. */
export async function runAsProcess(start: () => Promise<Started>): Promise<void> {
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

/** Adds the proxy for a vendor's host names if a file for its authority is named. */
export async function withProxy(
  { ready, close }: Started,
  authorityFile: string | undefined,
  hosts: VendorHosts,
): Promise<Started> {
  if (authorityFile === undefined) return { ready, close }
  const proxy = await startVendorProxy(hosts)
  writeFileSync(authorityFile, proxy.authority)
  return {
    ready: { ...ready, proxyUrl: proxy.url },
    async close() {
      await proxy.close()
      await close()
    },
  }
}
