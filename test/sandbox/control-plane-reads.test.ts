import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Read, summarizeReads } from '../../sandbox/control-planes/reads.ts'

const good = (startedMs: number, ms = 10): Read => ({ startedMs, endedMs: startedMs + ms })
const failed = (startedMs: number, second?: string): Read => ({
  ...good(startedMs, 1000),
  first: 'ECONNRESET',
  ...(second !== undefined && { second }),
})

const cases: { name: string; reads: Read[]; toMs: number; says: object }[] = [
  {
    name: 'good answers',
    reads: [good(0), good(50), good(100)],
    toMs: 150,
    says: { reads: 3, failed: 0, lost: 0, longestGapMs: 50 },
  },
  {
    name: 'a read that fails once is not lost',
    reads: [good(0), failed(50), good(1100)],
    toMs: 1150,
    says: { reads: 3, failed: 1, lost: 0, longestGapMs: 1100, gapStartedMs: 10, problems: { ECONNRESET: 1 } },
  },
  {
    name: 'a read that fails twice is lost',
    reads: [good(0), failed(50, 'ECONNREFUSED'), good(100)],
    toMs: 150,
    says: { failed: 1, lost: 1, longestGapMs: 100 },
  },
  {
    name: 'no answer at all is a gap of the whole time',
    reads: [failed(0, 'x'), failed(50, 'x')],
    toMs: 4000,
    says: { failed: 2, lost: 2, longestGapMs: 4000, gapStartedMs: 0 },
  },
  {
    name: 'answers that arrive out of order',
    reads: [good(0, 500), good(50), good(100)],
    toMs: 500,
    says: { longestGapMs: 390, gapStartedMs: 110 },
  },
  {
    name: 'reads before and after the span do not count',
    reads: [failed(-100), good(0), failed(500)],
    toMs: 400,
    says: { reads: 1, failed: 0, longestGapMs: 390 },
  },
]

for (const { name, reads, toMs, says } of cases) {
  test(name, () => {
    const loss = summarizeReads(reads, { fromMs: 0, toMs })
    for (const [key, value] of Object.entries(says)) assert.equal(loss[key as keyof typeof loss], value, key)
  })
}

test.run()
