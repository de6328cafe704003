import { once } from 'node:events'
import { type AddressInfo, type Socket, connect } from 'node:net'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { nodeHttp } from '../../lib/node-http.ts'
import type { Section } from '../../status-page/section.ts'
import { type UpdatesOptions, maxReaders, updates } from '../../status-page/updates.ts'
import { silentLog } from '../fakes/log.ts'
import { eventually } from '../whole/eventually.ts'

const section = (id: string, text: string): Section => ({
  id,
  title: id,
  blocks: [{ kind: 'notes', notes: [{ tone: 'good', text }] }],
})

/** A server with streams over sections that the test changes, and the texts that its readers have received. */
async function open(options: Partial<UpdatesOptions> = {}) {
  let sections: Section[] = [section('a', 'first'), section('b', 'stays')]
  const streams = updates({ model: () => sections, log: silentLog, periodMs: 5, now: () => 0, ...options })
  const server = nodeHttp.createServer((_request, response) => {
    if (streams.hasRoom()) streams.add(response)
    else response.writeHead(503).end()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const sockets: Socket[] = []
  return {
    streams,
    show: (next: Section[]) => (sections = next),
    async read(): Promise<{ text: () => string; socket: Socket }> {
      const socket = connect(port, '127.0.0.1')
      sockets.push(socket)
      let text = ''
      socket.setEncoding('utf8').on('data', (part: string) => (text += part))
      socket.on('error', () => undefined)
      socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
      await eventually('an answer', () => text !== '' || undefined)
      return { text: () => text, socket }
    },
    async close() {
      streams.stop()
      for (const socket of sockets) socket.destroy()
      await once(server.close(), 'close')
    },
  }
}

const count = (text: string, part: string) => text.split(part).length - 1

test('a reader of a page that does not change hears that the process lives', async () => {
  let nowMs = 0
  const page = await open({ now: () => nowMs })
  try {
    const reader = await page.read()
    await eventually('the sections', () => reader.text().includes('stays') || undefined)
    assert.not.match(reader.text(), 'event: alive')
    nowMs = 5_000
    await eventually('a heartbeat', () => reader.text().includes('event: alive\ndata:\n\n') || undefined)
  } finally {
    await page.close()
  }
})

test('a reader gets every section, then each that changes', async () => {
  const page = await open()
  try {
    const reader = await page.read()
    await eventually('both sections', () => reader.text().includes('stays') || undefined)
    page.show([section('a', 'second'), section('b', 'stays')])
    await eventually('the change', () => reader.text().includes('second') || undefined)
    assert.is(count(reader.text(), 'event: section'), 3)
    assert.is(count(reader.text(), 'stays'), 1)
  } finally {
    await page.close()
  }
})

test('a reader who comes later gets what there is then', async () => {
  const page = await open()
  try {
    await page.read()
    page.show([section('a', 'second')])
    const late = await page.read()
    await eventually('the new text', () => late.text().includes('second') || undefined)
    assert.not.match(late.text(), 'first')
  } finally {
    await page.close()
  }
})

test('the number of readers is limited, and one who leaves makes room', async () => {
  const page = await open()
  try {
    const readers = await Promise.all(Array.from({ length: maxReaders }, () => page.read()))
    assert.match((await page.read()).text(), '503')
    readers[0]?.socket.destroy()
    await eventually('room', () => page.streams.hasRoom() || undefined)
    assert.match((await page.read()).text(), '200')
  } finally {
    await page.close()
  }
})

test('a facts error ends neither the process nor the streams', async () => {
  let isBroken = false
  const model = () => {
    if (isBroken) throw new Error('no facts')
    return [section('a', isBroken ? '' : 'well')]
  }
  const page = await open({ model })
  try {
    const reader = await page.read()
    isBroken = true
    const late = await page.read()
    isBroken = false
    await eventually('it continues', () => late.text().includes('well') || undefined)
    assert.not(reader.socket.destroyed)
  } finally {
    await page.close()
  }
})

test('a stream ends after its time, and all end when the page stops', async () => {
  let nowMs = 0
  const page = await open({ now: () => nowMs, maxStreamMs: 1_000 })
  try {
    const old = await page.read()
    nowMs = 1_001
    await eventually('its end', () => old.text().endsWith('0\r\n\r\n') || undefined)
    const last = await page.read()
    page.streams.stop()
    await eventually('the end', () => last.text().endsWith('0\r\n\r\n') || undefined)
    assert.not(page.streams.hasRoom())
  } finally {
    await page.close()
  }
})

test('a reader who takes nothing is cut off, and what waits for it is limited', async () => {
  let nowMs = 0
  let round = 0
  const large = 'x'.repeat(1_000_000)
  const page = await open({ now: () => nowMs, model: () => [section('a', `${large}${(round += 1)}`)] })
  try {
    const reader = await page.read()
    reader.socket.pause()
    const before = round
    await eventually('many changes', () => round > before + 50 || undefined)
    assert.ok(process.memoryUsage().external < 500_000_000)
    nowMs = 31_000
    await eventually('room again', () => (reader.socket.resume(), reader.socket.destroyed) || undefined)
  } finally {
    await page.close()
  }
})

test.run()
