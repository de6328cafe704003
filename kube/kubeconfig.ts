import type { RequestOptions } from 'node:https'
import { delimiter } from 'node:path'
import type { KubeConfig } from '@kubernetes/client-node'
import { type Access, type Credentials, type Tls, remembered } from './credentials.ts'

export type KubeconfigOptions = {
  /** The file, or several as in KUBECONFIG; where absent, those that kubectl would take. */
  file?: string | undefined
  /** The context in it; where absent, its current one. */
  context?: string | undefined
  now?: () => number
}

/**
 * Who a kubeconfig says we are: tokens, client certificates, exec plugins, OIDC and proxies. The library that reads it
 * is large, so it is loaded when the first call needs it.
 */
export function kubeconfig(options: KubeconfigOptions = {}): Credentials {
  let config: KubeConfig | undefined

  const read = async (refused: boolean) => {
    // A refused token may still be in a plugin's cache, which ends with the object that holds it.
    if (config === undefined || refused) config = await load(options)
    return accessOf(config, options)
  }
  // An exec plugin's own expiry is looked at with every read, so this is how late we may notice it.
  return remembered((refused) => read(refused).catch((error) => rejectWithPlace(error, options)), {
    maxAgeMs: 10_000,
    now: options.now,
  })
}

async function load({ file, context }: KubeconfigOptions): Promise<KubeConfig> {
  const library = await import('@kubernetes/client-node')
  const config = new library.KubeConfig()
  const [first, ...others] = file?.split(delimiter).filter(Boolean) ?? []
  if (first === undefined) config.loadFromDefault()
  else config.loadFromFile(first)
  // As kubectl does with KUBECONFIG: several files are one, and the first says which context is current.
  for (const path of others) {
    const part = new library.KubeConfig()
    part.loadFromFile(path)
    config.mergeConfig(part, true)
  }
  // The library's last resort where there is no file at all.
  if (file === undefined && config.getCurrentCluster()?.server === 'http://localhost:8080')
    throw new Error('there is none; name a file, or run in a pod that has a service account')
  if (context !== undefined) config.setCurrentContext(context)
  if (config.getCurrentCluster() === null) {
    const names = config.getContexts().map(({ name }) => name)
    const there = names.length > 0 ? `it has ${names.join(', ')}` : 'it has none'
    throw new Error(`context "${config.getCurrentContext()}" leads to no cluster; ${there}`)
  }
  return config
}

async function accessOf(config: KubeConfig, { context }: KubeconfigOptions): Promise<Access> {
  const cluster = config.getCurrentCluster()
  const request: RequestOptions = {}
  await withoutOldAgent(config).applyToHTTPSOptions(request)
  const namespace = config.getContextObject(context ?? config.getCurrentContext())?.namespace
  return {
    url: cluster?.server ?? '',
    headers: headersOf(request),
    tls: tlsOf(request),
    ...(cluster?.proxyUrl !== undefined && typeof request.agent === 'object' && { proxy: request.agent }),
    ...(namespace !== undefined && { namespace }),
  }
}

/** The library keeps the first agent it made, with the client certificate of that day; plugins' caches are to stay. */
function withoutOldAgent(config: KubeConfig): KubeConfig {
  const { prototype } = config.constructor as { prototype: object }
  return Object.assign(Object.create(prototype) as KubeConfig, config, { agentCache: new Map() })
}

function headersOf({ headers = {}, auth }: RequestOptions): Record<string, string> {
  const basic = auth ? { authorization: `Basic ${Buffer.from(auth).toString('base64')}` } : {}
  const given = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)])
  return { ...basic, ...Object.fromEntries(given) }
}

function tlsOf(request: RequestOptions): Tls {
  const { ca, cert, key, pfx, passphrase, rejectUnauthorized, servername } = request
  const all = { ca, cert, key, pfx, passphrase, rejectUnauthorized, servername }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
}

function rejectWithPlace(error: unknown, { file }: KubeconfigOptions): never {
  const place = `kubeconfig ${file ?? 'that KUBECONFIG names, or ~/.kube/config'}`
  if (!(error instanceof Error)) throw new Error(`${place}: cannot be read`)
  // These two quote what they could not parse: what an exec plugin printed, or lines of the file. Either may be a token.
  if (error instanceof SyntaxError) throw new Error(`${place}: the output of its exec plugin is not JSON`)
  if (error.name === 'YAMLException') throw new Error(`${place}: is not YAML: ${error.message.split('\n')[0]}`)
  throw new Error(`${place}: ${error.message.trim()}`, { cause: error })
}
