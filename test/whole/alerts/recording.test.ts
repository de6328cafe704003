// What the test of the alerts relies on: the recording loses nothing, and the clock is the one that was set.
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { record } from './recording.ts'
import { setClock } from './set-clock.ts'

const target = 'namespace="eip-admission",job="eip-admission-metrics",instance="a"'

test('each sample is kept at its place, and what ends is stale at once', () => {
  const recording = record()
  recording.add({ a: '# HELP up text\nup 1\n' })
  recording.add({ a: 'up 1\ncalls{call="list"} 2\n' })
  recording.add({ a: 'up 1\ncalls{call="list"} 3\n' })
  recording.add({ a: 'calls{call="list"} 3\n' })
  recording.add({})
  recording.add({})
  recording.add({ a: 'up 2\n' })
  assert.is(recording.length, 7)
  assert.equal(recording.series(), {
    [`up{${target}}`]: '1x2 stale _x2 2',
    [`calls{${target},call="list"}`]: '_ 2 3x1 stale _x2',
  })
})

test('labels may hold commas and braces, and values exponents', () => {
  const recording = record()
  recording.add({ a: 'b{le="+Inf",text="a, {b} \\" c"} 1.5e-7\nc 1.7e+9\n' })
  assert.equal(recording.series(), {
    [`b{${target},le="+Inf",text="a, {b} \\" c"}`]: '0.000000150000',
    [`c{${target}}`]: '1700000000.000000000000',
  })
})

test('a process has the time that is set, and after that the time of the machine', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'eip-admission-clock-'))
  try {
    const clock = setClock(dir)
    const timeOf = async (program: string) => {
      const env = { ...process.env, ...clock.env }
      const { stdout } = await promisify(execFile)(process.execPath, ['-p', program], { env })
      return Number(stdout)
    }
    const minuteMs = 60_000
    clock.set(Date.parse('2040-01-01T00:00:00Z'))
    for (const program of ['Date.now()', '+new Date()']) {
      const sinceMs = (await timeOf(program)) - Date.parse('2040-01-01T00:00:00Z')
      assert.ok(sinceMs >= 0 && sinceMs < 10 * minuteMs, program)
    }
    assert.is(await timeOf("+new Date('2020-01-01T00:00:00Z')"), Date.parse('2020-01-01T00:00:00Z'))
    clock.set()
    assert.ok(Math.abs((await timeOf('Date.now()')) - Date.now()) < 10 * minuteMs)
  } finally {
    rmSync(dir, { recursive: true })
  }
})

test.run()
