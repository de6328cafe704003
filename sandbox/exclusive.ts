import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { type Socket, connect, createServer } from 'node:net'

export type ExclusiveOptions = {
  signal?: AbortSignal | undefined
  /** Called with the id of the process that does the work, if it is another one. */
  onWait?: (pid: string) => void
}

/**
 * Does work that only one process of this machine may do at a time. The lock is a socket in the abstract namespace of
 * Linux. It has no file, and the kernel removes it with the process that holds it, however that ends. So no lock is
 * ever stale, and the end of the connection tells the waiting processes. Other systems have no such sockets, and work
 * without the lock.
 */
export async function exclusively<T>(name: string, work: () => Promise<T>, options: ExclusiveOptions = {}): Promise<T> {
  for (;;) {
    options.signal?.throwIfAborted()
    const release = await tryExclusively(name)
    if (release) return work().finally(release)
    await untilReleased(addressOf(name), options)
  }
}

/** Takes the same lock and returns what releases it; undefined if another process, or this one, has it. */
export async function tryExclusively(name: string): Promise<(() => void) | undefined> {
  return process.platform === 'linux' ? take(addressOf(name)) : () => undefined
}

/** Such an address is at most 107 bytes long. */
function addressOf(name: string): string {
  return `\0eip-admission ${createHash('sha256').update(name).digest('hex')}`
}

/** Takes the lock and returns what releases it; undefined if another process has it. */
async function take(address: string): Promise<(() => void) | undefined> {
  const waiting = new Set<Socket>()
  const server = createServer((socket) => {
    waiting.add(socket)
    // A waiting process may disconnect during a write, which is no error.
    socket.on('error', () => undefined).on('close', () => waiting.delete(socket))
    socket.write(`${process.pid}\n`)
    socket.unref()
  })
  try {
    await once(server.listen(address), 'listening')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') return undefined
    throw error
  }
  // Waiting processes do not keep this one alive after its work.
  server.unref()
  return () => {
    server.close()
    for (const socket of waiting) socket.destroy()
  }
}

/** Waits until the holder finishes its work or exits. */
async function untilReleased(address: string, { signal, onWait }: ExclusiveOptions): Promise<void> {
  const socket = connect({ path: address, ...(signal && { signal }) })
  let pid = ''
  socket.setEncoding('utf8').on('data', (text: string) => {
    pid += text
    if (text.endsWith('\n')) onWait?.(pid.trim())
  })
  // It was released just now, or its holder was killed: either way we try again.
  socket.on('error', () => undefined)
  await new Promise((resolve) => socket.once('close', resolve))
}
