import * as assert from 'uvu/assert'
import type { Result } from '../../commands/doctor/check.ts'
import { dialects } from '../../sandbox/dialects.ts'
import type { Product } from '../../sandbox/product.ts'
import { typed } from './command-line.ts'
import { recordRequests } from './recorded-api-server.ts'
import { type Followed, type Remedy, follow, shellOf } from './remedies.ts'
import type { Running, TestStage } from './test-stage.ts'

export type Operator = Followed & {
  /** The settings of `serve` and `doctor`, which a remedy may change. */
  settings: Required<Running>
  /** Sets a flag of the settings. */
  setFlag: (flag: string) => void
  /** Returns a function that sets this flag to the value that a remedy names. */
  takes: (name: string) => (fixes: string[]) => void
  /** Restarts `serve` with the current settings. */
  serve: () => Promise<Product>
  stop: () => Promise<void>
  follow(...remedies: Remedy[]): Promise<void>
  close(): Promise<void>
}

/** `doctor` sees all objects as older by this time, because some checks give new objects time. */
const ageMs = 600_000

/** An operator who runs a cluster with these settings. */
export async function operatorOf(stage: TestStage, settings: Required<Running>): Promise<Operator> {
  const { cloud, project, token, controlPlane, dialect } = stage
  const apiServer = await recordRequests(controlPlane, { ageMs })
  const { provider, env } = dialects[dialect]
  const place = [`--cloud-provider=${provider}`, `--base-url=${cloud.url}`, `--kubeconfig=${controlPlane.kubeconfig}`]
  const type = await shellOf(controlPlane)
  const results = async () => {
    const all = { ...env({ url: cloud.url, project, token }), ...settings.env }
    const flags = [...place, `--api-server=${apiServer.url}`, ...settings.flags]
    const { stdout, stderr } = await typed(['doctor', ...flags, '-o', 'json'], all)
    if (stdout === '') throw new Error(stderr)
    return (JSON.parse(stdout) as { results: Result[] }).results
  }
  const setFlag = (flag: string) => {
    const [name = ''] = flag.split('=')
    settings.flags = [...settings.flags.filter((one) => !one.startsWith(`${name}=`)), flag]
  }
  let product: Product | undefined
  const stop = async () => void (await product?.stop())
  return {
    settings,
    results,
    type,
    setFlag,
    takes: (name) => (fixes) => {
      const [found] = fixes.flatMap((fix) => new RegExp(`${name}=[^\\s;,\`]+`).exec(fix) ?? [])
      assert.ok(found, `no ${name} in: ${fixes.join('\n')}`)
      setFlag(found)
    },
    serve: async () => {
      await stop()
      product = await stage.start(settings)
      return product
    },
    stop,
    follow: (...remedies) => follow({ results, type }, remedies),
    close: () => apiServer.close(),
  }
}
