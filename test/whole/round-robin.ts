import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'

export type RoundRobin = {
  port: number
  /** Stops sending new connections to a replica, as Kubernetes does when it ends the pod. */
  remove(port: number): void
  add(port: number): void
  close(): Promise<void>
}

/** Balances connections over several replicas, as a Service does: each goes to the next replica that accepts it. */
export async function roundRobin(ports: readonly number[]): Promise<RoundRobin> {
  let turn = 0
  const endpoints = new Set(ports)
  const server = createServer((client) => {
    const forward = (triesLeft: number): void => {
      const open = [...endpoints]
      const replica = connect(open[turn++ % open.length] ?? 0, '127.0.0.1')
      replica.once('connect', () => {
        replica.removeAllListeners('error')
        for (const [one, other] of [[client, replica] as const, [replica, client] as const]) {
          one.pipe(other)
          one.on('error', () => other.destroy())
          one.on('close', () => other.destroy())
        }
      })
      replica.once('error', () => (triesLeft > 0 ? forward(triesLeft - 1) : client.destroy()))
    }
    forward(ports.length - 1)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    remove: (port) => void endpoints.delete(port),
    add: (port) => void endpoints.add(port),
    async close() {
      server.close()
      await once(server, 'close')
    },
  }
}
