import { once } from 'node:events'
import { Agent, createServer, get, type IncomingMessage } from 'node:http'
import { type AddressInfo, type Socket, connect } from 'node:net'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { limitConnections } from '../../../server/listeners/listeners.ts'

type Door = {
  open: () => Promise<Socket>
  ask: (path: string, agent?: Agent) => Promise<number | undefined>
  /** Waits until a request arrives. */
  asked: () => Promise<unknown>
  answerSlow: () => void
  closeUnused: () => void
}

/** A server that bounds its connections. It answers `/slow` only when the test tells it to. */
async function withDoor(max: number, play: (door: Door) => Promise<void>): Promise<void> {
  const waiting: (() => void)[] = []
  const server = createServer((request, response) => {
    if (request.url === '/slow') waiting.push(() => response.end())
    else response.end()
  })
  const { closeUnused } = limitConnections(server, max)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const open = async () => {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined)
    await once(socket, 'connect')
    return socket
  }
  const ask = async (path: string, agent = new Agent()) => {
    const [answer] = (await once(get({ port, host: '127.0.0.1', path, agent }), 'response')) as [IncomingMessage]
    await answer.resume().toArray()
    return answer.statusCode
  }
  try {
    const asked = () => once(server, 'request')
    const answerSlow = () => waiting.splice(0).forEach((answer) => answer())
    await play({ open, ask, asked, answerSlow, closeUnused })
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

test('at the maximum the oldest connection without a request makes room', () =>
  withDoor(3, async ({ open, ask }) => {
    const [oldest, ...others] = [await open(), await open(), await open()]
    assert.is(await ask('/'), 200)
    assert.ok(oldest?.closed)
    for (const other of others) assert.not(other.closed)
  }))

test('a connection that has carried a request stays while there is one that has not', () =>
  withDoor(2, async ({ open, ask }) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    await ask('/', agent)
    const [used] = Object.values(agent.freeSockets).flat()
    const silent = await open()
    await open()
    await once(silent, 'close')
    assert.is(await ask('/', agent), 200)
    assert.is(Object.values(agent.freeSockets).flat()[0], used)
    agent.destroy()
  }))

test('while all connections are busy a new one is refused', () =>
  withDoor(1, async ({ open, ask, asked, answerSlow }) => {
    const slow = ask('/slow')
    await asked()
    await once(await open(), 'close')
    answerSlow()
    assert.is(await slow, 200)
  }))

test('closing ends connections without a request, and every new one', () =>
  withDoor(5, async ({ open, closeUnused }) => {
    const silent = await open()
    closeUnused()
    await once(silent, 'close')
    await once(await open(), 'close')
  }))

test.run()
