import type { Check, Result } from '../../../commands/doctor/check.ts'
import type { Context, FactName, Facts, Values } from '../../../inspect/facts.ts'
import { serveSettings } from '../../../commands/settings/serve.ts'

export const now = new Date('2026-02-01T12:00:00Z')

type Given = { flags?: Record<string, string>; env?: Record<string, string> }

/** The context of `doctor` with these settings, in the dialect of Equinix Metal. */
export function makeContext({ flags = {}, env = {} }: Given = {}): Context {
  const all = { METAL_API_KEY: 'key', METAL_PROJECT_ID: 'p', METAL_METRO_NAME: 'da', ...env }
  const settings = serveSettings({ flags: { '--cloud-provider': 'equinixmetal', ...flags }, env: all })
  const vendor = settings.cloud.dialect.makeProvider(settings.cloud.settings, {
    userAgent: 'test',
    proxy: {},
    observe() {},
    log: { debug() {}, info() {}, warn() {}, error() {} },
    signal: new AbortController().signal,
    reserves: false,
  })
  if (vendor instanceof Promise) throw new Error('this dialect reads its location at start')
  return { now, env: Object.keys(all), settings, vendor }
}

/** Runs a check on these facts; a fact that it needs and that is not given could not be read. */
export function judge(check: Check, values: Partial<Values>, given?: Given): Result[] {
  const facts = new Proxy({} as Facts, {
    get: (_target, name) =>
      name in values ? { value: values[name as FactName] } : { unread: `${String(name)} was not read` },
  })
  return check.run(facts, makeContext(given))
}

/** The same, as lines: the level, and what is wrong. */
export function lines(check: Check, values: Partial<Values>, given?: Given): string[] {
  return judge(check, values, given).map(({ level, what }) => `${level}: ${what}`)
}
