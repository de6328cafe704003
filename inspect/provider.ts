import type { CloudSettings, CloudTools } from '../clouds/dialect/define-dialect.ts'
import type { CloudProvider } from '../clouds/ports/cloud-provider.ts'
import type { Values } from './facts.ts'

/** The cloud provider of the settings for a command that reserves nothing, and how many calls it makes. */
export async function countedProvider(
  { dialect, settings }: CloudSettings,
  from: Pick<CloudTools, 'userAgent' | 'proxy' | 'signal'>,
): Promise<{ vendor: CloudProvider; pace: Values['cloudPace'] }> {
  const pace = { calls: 0, limited: 0 }
  const vendor = await dialect.makeProvider(settings, {
    ...from,
    log: silent,
    // It reserves nothing, so it needs no location.
    reserves: false,
    observe({ fault }) {
      pace.calls += 1
      if (fault === 'rate-limit') pace.limited += 1
    },
  })
  return { vendor, pace }
}

const silent = { debug() {}, info() {}, warn() {}, error() {} }
