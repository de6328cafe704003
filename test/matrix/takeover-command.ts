// `takeover apply` and `takeover undo` as a process, with a plan from a file instead of one from a cloud.
import { readFileSync } from 'node:fs'
import { undoSettings, applySettings } from '../../server/settings/takeover-apply.ts'
import { resolveSettings } from '../../server/settings/resolve.ts'
import { takeoverApply, takeoverUndo } from '../../server/takeover/commands.ts'
import type { TakeoverPlan } from '../../server/takeover/plan.ts'

const [command, file = '', ...given] = process.argv.slice(2)
const stopping = new AbortController()
process.once('SIGINT', () => stopping.abort())
const flags = Object.fromEntries(given.map((flag) => flag.split(/=(.*)/s).slice(0, 2) as [string, string]))
const deps = {
  env: {},
  version: 'test',
  signal: stopping.signal,
  print: (text: string) => void process.stdout.write(text),
  printError: (text: string) => void process.stderr.write(text),
}
process.exitCode =
  command === 'undo'
    ? await takeoverUndo(resolveSettings(undoSettings, { flags, env: {} }).values, deps)
    : await takeoverApply(
        resolveSettings(applySettings, { flags, env: {} }).values,
        () => Promise.resolve(JSON.parse(readFileSync(file, 'utf8')) as TakeoverPlan),
        deps,
      )
