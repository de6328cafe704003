import type { Base } from './base.ts'
import { serveLoopbackPage } from './listeners/loopback-page.ts'
import type { Facts } from '../status-page/model.ts'
import { type StatusPage, statusPage } from '../status-page/status-page.ts'

/** The status page over what a process knows. */
export function makeStatusPage({ settings, log }: Base, facts: () => Facts): StatusPage {
  return statusPage({ facts, tokenFile: settings.process.statusPageTokenFile, log })
}

/** Serves the page where the operator set a loopback address, until the signal aborts. */
export function showOnLoopback({ settings, log }: Base, page: StatusPage, signal: AbortSignal): void {
  const { statusPageAddress: at } = settings.process
  if (at) void serveLoopbackPage(at, page, { log, signal })
}
