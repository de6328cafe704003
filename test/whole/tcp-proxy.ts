import { once } from 'node:events'
import { type AddressInfo, type Socket, connect, createServer } from 'node:net'

export type TcpProxy = {
  port: number
  /** Ends every connection with a reset. */
  cut(): void
  /** The open connections stay open and forward nothing any more; later ones work as before. */
  strand(): void
  /** Forwards nothing from now on; the connections stay open. */
  pause(): void
  /** Forwards again, beginning with the data that arrived meanwhile. */
  resume(): void
  close(): Promise<void>
}

/** Opens a proxy to a local port whose connections a test can reset or pause. */
export async function openTcpProxy(target: number): Promise<TcpProxy> {
  const ends = new Set<Socket>()
  let isPaused = false
  const server = createServer((near) => {
    const far = connect(target, '127.0.0.1')
    for (const [one, other] of [[near, far] as const, [far, near] as const]) {
      ends.add(one)
      one.on('data', (data) => other.write(data))
      one.on('end', () => other.end())
      one.on('error', () => other.destroy())
      one.on('close', () => {
        ends.delete(one)
        other.destroy()
      })
      if (isPaused) one.pause()
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = () => {
    for (const end of ends) {
      // libuv refuses to reset a socket that is sending its end, and Node 24 then never exits.
      if (end.writableEnded) end.destroy()
      else end.resetAndDestroy()
    }
  }
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    strand() {
      for (const end of ends) end.removeAllListeners('data').removeAllListeners('end').resume()
    },
    pause() {
      isPaused = true
      for (const end of ends) end.pause()
    },
    resume() {
      isPaused = false
      for (const end of ends) end.resume()
    },
    async close() {
      cut()
      await once(server.close(), 'close')
    },
  }
}
