import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { showProgress } from '../../sandbox/progress.ts'

/** The text of a step with this end on a terminal of 40 columns. */
function writtenToTerminal(end: string): string {
  const { stderr } = process
  const former = { isTTY: stderr.isTTY, columns: stderr.columns, write: stderr.write.bind(stderr) }
  const written: string[] = []
  stderr.isTTY = true
  stderr.columns = 40
  stderr.write = (text: string | Uint8Array) => written.push(String(text)) > 0
  try {
    showProgress('Downloading etcd').done(end)
  } finally {
    Object.assign(stderr, former)
  }
  return written.join('')
}

test('on a narrow terminal the last line is whole: it may say why something was not done', () => {
  const end = 'not to be had (getaddrinfo ENOTFOUND github.com), so it is compiled'
  assert.ok(writtenToTerminal(end).endsWith(`${end}\n`), writtenToTerminal(end))
})

test.run()
