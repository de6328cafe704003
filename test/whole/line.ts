import { once } from 'node:events'
import { type AddressInfo, type Socket, connect, createServer } from 'node:net'

export type Line = {
  port: number
  /** Ends every connection with a reset. */
  cut(): void
  /** From now on nothing passes, and neither end is told. */
  hold(): void
  /** What was held back passes. */
  release(): void
  close(): Promise<void>
}

/** A line to a local port that can be cut, or go dead for a while. */
export async function layLine(to: number): Promise<Line> {
  const ends = new Set<Socket>()
  let isHeld = false
  const server = createServer((near) => {
    const far = connect(to, '127.0.0.1')
    for (const [one, other] of [[near, far] as const, [far, near] as const]) {
      ends.add(one)
      one.on('data', (data) => other.write(data))
      one.on('end', () => other.end())
      one.on('error', () => other.destroy())
      one.on('close', () => {
        ends.delete(one)
        other.destroy()
      })
      if (isHeld) one.pause()
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = () => {
    for (const end of ends) end.resetAndDestroy()
  }
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    hold() {
      isHeld = true
      for (const end of ends) end.pause()
    },
    release() {
      isHeld = false
      for (const end of ends) end.resume()
    },
    async close() {
      cut()
      await once(server.close(), 'close')
    },
  }
}
