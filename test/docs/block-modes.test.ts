// Every block of commands is run, or says why not.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { isCommands, modeOf, reasons, stepsOf, withoutChance } from './block-modes.ts'
import { type Block, allPages } from './pages.ts'

const blocks = allPages()
  .flatMap((page) => page.blocks)
  .filter(isCommands)

test('every block of commands says how it is run, or has a reason that is known', () => {
  const problems = blocks.flatMap((block) => {
    const mode = modeOf(block)
    if (mode.kind === 'none')
      return [`${block.place}: give it a mode: run, run=fails or no-run=<${Object.keys(reasons).join('|')}>`]
    return mode.kind === 'no-run' && !Object.hasOwn(reasons, mode.reason)
      ? [`${block.place}: no-run=${mode.reason}?`]
      : []
  })
  assert.equal(problems, [])
})

test('most blocks that this machine could run are run', () => {
  const modes = blocks.map(modeOf)
  const run = modes.filter(({ kind }) => kind === 'run').length
  const others = modes.filter((mode) => mode.kind === 'no-run' && !isElsewhere(mode.reason)).length
  assert.ok(run > others, `${run} blocks are run, ${others} could be`)
})

/** A block that needs what the sandbox does not have, or that another test runs. */
const isElsewhere = (reason: string) => reason.startsWith('needs-') || reason === 'is-a-test'

test('a block of commands and outputs is taken apart', () => {
  const block = (text: string): Block => ({ lang: 'console', words: ['run'], text, place: 'a.md:1' })
  assert.equal(stepsOf(block('$ a \\\n  b\none\ntwo\n$ c')), [
    { command: 'a \\\n  b', output: 'one\ntwo' },
    { command: 'c', output: '' },
  ])
  assert.equal(stepsOf(block('a\nb')), [{ command: 'a\nb' }])
})

test('what differs from run to run is no difference', () => {
  const seen = 'web   LoadBalancer   10.0.0.8   203.0.113.7   80:31234/TCP   3s'
  assert.is(withoutChance(seen), withoutChance('web LoadBalancer 10.0.200.1 198.51.100.77 80:30001/TCP 1m2s'))
  assert.is.not(withoutChance(seen), withoutChance(seen.replace('web', 'other')))
})

test.run()
