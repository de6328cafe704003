import { pino } from 'pino'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Log } from '../../kube/log.ts'

test("pino's logger is a log", () => {
  const lines: string[] = []
  const log: Log = pino({}, { write: (line: string) => void lines.push(line) })
  log.info({ key: 'default/web' }, 'listed')
  const { key, msg } = JSON.parse(lines[0] ?? '') as Record<string, unknown>
  assert.equal([key, msg], ['default/web', 'listed'])
})

test.run()
