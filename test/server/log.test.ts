import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { makeLog } from '../../server/log.ts'

async function linesOf(loggingFormat: 'text' | 'json', verbosity = 0): Promise<string[]> {
  const lines: string[] = []
  const log = await makeLog({ loggingFormat, verbosity }, { write: (text) => void lines.push(text) })
  log.info({ value: hostile, error: new Error(hostile), token: 'x' }, 'said')
  log.warn({ nested: { token: 'secret-token', password: 'secret-password' } }, 'kept secret')
  log.debug({}, 'called')
  log.trace({}, 'read')
  return lines
}

const misleading = [
  '\u001b[2J',
  '\u009b2J',
  '\u202e',
  '\u2028',
  '\u2029',
  '\u200f',
  '\u2066',
  '\ufeff',
  '\n',
  '\r',
  '\u0000',
  '\u007f',
]
const hostile = `a${misleading.join('b')}c`

for (const format of ['text', 'json'] as const) {
  test(`a value in a line of ${format} moves no cursor, hides nothing and begins no second line`, async () => {
    const [line = ''] = await linesOf(format)
    assert.match(line, /\n$/)
    assert.not.match(line.slice(0, -1), /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
    assert.match(line, '\\u009b2J')
  })

  test(`a line of ${format} begins with a date, and shows no secret`, async () => {
    const lines = await linesOf(format)
    for (const line of lines) assert.match(line.slice(0, 60), /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/)
    assert.not.match(lines.join(''), /secret-(token|password)/)
  })

  test(`--v decides which lines of ${format} there are`, async () => {
    const counts = await Promise.all(
      [0, 1, 2, 4, 5].map(async (verbosity) => (await linesOf(format, verbosity)).length),
    )
    assert.equal(counts, [2, 2, 3, 3, 4])
  })
}

test('a line of JSON has the word of its level, and values as they were', async () => {
  const [first, second] = (await linesOf('json')).map((line) => JSON.parse(line) as { level: unknown; value: unknown })
  assert.equal([first?.level, first?.value, second?.level], ['info', hostile, 'warn'])
})

test('a line of text has colours only where its output shows them, and begins with no name', async () => {
  const firstOf = async (hasColors: boolean) => {
    const lines: string[] = []
    const output = { hasColors, write: (text: string) => void lines.push(text) }
    ;(await makeLog({ loggingFormat: 'text', verbosity: 0 }, output)).info({ object: 'default/web' }, 'said')
    return lines[0] ?? ''
  }
  assert.match(await firstOf(true), '\u001b[')
  assert.match(await firstOf(false), /INFO: said \{"object":"default\/web"\}\n$/)
})

test.run()
