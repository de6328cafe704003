import { existsSync, readdirSync } from 'node:fs'
import { performance } from 'node:perf_hooks'
import type { Metrics } from './metrics.ts'
import { certificatesIn } from '../../certs/bundle.ts'
import type { CertSource } from '../../certs/cert-source.ts'
import type { Exchange } from '../../clouds/ports/cloud.ts'
import type { ObservedCall } from '../../kube/connect.ts'

const startedAtS = performance.timeOrigin / 1000

/**
 * Reads the resources that the process uses. The library's own collectors keep a 10 ms timer running, and wait 100 ms
 * on each read.
 */
export function readProcess(metrics: Metrics): void {
  const cpuS = () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e6
  }
  let utilization = performance.eventLoopUtilization()
  metrics.readTotal('process_cpu_seconds_total', cpuS)
  metrics.read('process_resident_memory_bytes', () => process.memoryUsage.rss())
  metrics.read('process_open_fds', openFiles)
  metrics.read('process_start_time_seconds', () => startedAtS)
  metrics.read('nodejs_heap_size_used_bytes', () => process.memoryUsage().heapUsed)
  metrics.read('nodejs_eventloop_lag_seconds', eventLoopLagS)
  metrics.read('nodejs_eventloop_utilization_ratio', () => {
    const before = utilization
    utilization = performance.eventLoopUtilization()
    return performance.eventLoopUtilization(utilization, before).utilization
  })
}

/** Counts the open files, minus one because the folder itself is open while it is read. */
function openFiles(): number | undefined {
  const folder = '/proc/self/fd'
  return existsSync(folder) ? readdirSync(folder).length - 1 : undefined
}

/** Shows which version runs, for which provider. */
export function readBuild(metrics: Metrics, { version, cloud }: { version: string; cloud: string }): void {
  const labels = { version, node_version: process.version, cloud }
  metrics.readEach('eip_admission_build_info', () => [{ labels, value: 1 }])
}

/** The delay, in seconds, with which the event loop runs a callback that is due now. */
async function eventLoopLagS(): Promise<number> {
  const begunMs = performance.now()
  await new Promise((resolve) => setImmediate(resolve))
  return (performance.now() - begunMs) / 1000
}

/** Shows when the certificates of the webhooks expire. */
export function readCertificates(metrics: Metrics, certs: CertSource): void {
  metrics.read('eip_admission_cert_not_after_timestamp_seconds', () => inSeconds(certs.notAfterMs()))
  metrics.read('eip_admission_ca_not_after_timestamp_seconds', () => {
    const ends = certificatesIn(certs.caBundle()).map(({ validToDate }) => validToDate.getTime())
    return ends.length === 0 ? undefined : inSeconds(Math.min(...ends))
  })
}

function inSeconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1000
}

type ClientObservers = { cloud(exchange: Exchange): void; apiServer(call: ObservedCall): void }

/** Counts the calls to the provider and to the API server. */
export function clientObservers(metrics: Metrics): ClientObservers {
  let succeededAtMs: number | undefined
  metrics.read('eip_admission_cloud_last_success_timestamp_seconds', () => succeededAtMs && succeededAtMs / 1000)
  return {
    cloud({ call, ms, status, fault }) {
      if (fault === undefined) succeededAtMs = Date.now()
      metrics.observe('eip_admission_cloud_call_duration_seconds', { call, result: fault ?? String(status) }, ms)
    },
    apiServer: ({ method, result, ms }) =>
      metrics.observe('eip_admission_api_server_call_duration_seconds', { method, result }, ms),
  }
}
