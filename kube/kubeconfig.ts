import { existsSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import type { RequestOptions } from 'node:https'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import type { KubeConfig } from '@kubernetes/client-node'
import { type Access, type Credentials, type Tls, cachedCredentials } from './credentials.ts'
import { defined } from '../lib/json.ts'
import { isIPv6 } from 'node:net'

export type KubeconfigOptions = {
  /** The file, or several as in KUBECONFIG; by default, the files that kubectl would read. */
  file?: string | undefined
  /** The context in the file; by default, its current one. */
  context?: string | undefined
  /** The API server, if it is not the context's. It is called without a proxy. */
  server?: string | undefined
  /** The folder under which a pod's service account has its usual path; by default, the root. */
  root?: string
  now?: () => number
}

/** The library's context names when no file exists, in a pod and elsewhere. */
const contextsWithoutFile = ['inClusterContext', 'loaded-context']
const serviceAccountToken = 'var/run/secrets/kubernetes.io/serviceaccount/token'

/** The parsed files, and their text. */
type Loaded = { config: KubeConfig; text: string }

/**
 * The credentials of a kubeconfig: tokens, client certificates, exec plugins, OIDC and proxies. It follows changes of
 * the files, unless they may point to another cluster. The library that reads them is large, so it is loaded by the
 * first call that needs it.
 */
export function kubeconfig(options: KubeconfigOptions = {}): Credentials {
  let loaded: Loaded | undefined
  let lastText: string | undefined

  const read = async (isRefused: boolean) => {
    const text = await textOf(options)
    // Files that have changed since the last look may be half written.
    const isNew = text === lastText && text !== loaded?.text
    lastText = text
    if (loaded === undefined) loaded = { text, config: await load(options) }
    // A refused token may still be in a plugin's cache, which belongs to the library's object: a new object starts without.
    else if (isRefused) loaded = { text, config: await loadAgain(options, loaded.config) }
    else if (isNew) loaded = await loadedOrFormer(options, text, loaded)
    return accessOf(loaded.config, options)
  }
  // Every read checks whether an exec plugin's token has expired, so we may notice the expiry this much later.
  return cachedCredentials((isRefused) => read(isRefused).catch((error) => rethrowWithPlace(error, options)), {
    maxAgeMs: 10_000,
    now: options.now,
  })
}

/** The text of the files that `load` reads. With `serve`, the settings name the files of KUBECONFIG. */
async function textOf({ file }: KubeconfigOptions): Promise<string> {
  const named = pathsIn(file)
  const paths = named.length > 0 ? named : [join(homedir(), '.kube', 'config')]
  return (await Promise.all(paths.map(textOfFile))).join('\0')
}

async function textOfFile(path: string): Promise<string> {
  try {
    // A pipe can be read only once, which is up to `load`.
    return (await stat(path)).isFile() ? await readFile(path, 'utf8') : ''
  } catch {
    return ''
  }
}

function pathsIn(list = ''): string[] {
  return list.split(delimiter).filter(Boolean)
}

/** Unusable files may get corrected, and until then the old credentials may still be valid. */
async function loadedOrFormer(options: KubeconfigOptions, text: string, former: Loaded): Promise<Loaded> {
  try {
    return { text, config: await loadAgain(options, former.config) }
  } catch {
    return former
  }
}

/** Loads the previous context, whatever the current one is now: all our knowledge is about its cluster. */
async function loadAgain(options: KubeconfigOptions, before: KubeConfig): Promise<KubeConfig> {
  const context = before.getCurrentContext()
  const config = await load({ ...options, context })
  if (!mayLeadElsewhere(before, config)) return config
  const fact = `context "${context}" may point to another cluster now, because its server or all of its CAs are new`
  throw new Error(`${fact}; restart to use it`)
}

/**
 * A rotation keeps one of the previous CAs until it is complete. If the file names no CA, only the URL of the server
 * can differ. A proxy for many clusters has one CA, but a path for each cluster.
 */
function mayLeadElsewhere(before: KubeConfig, now: KubeConfig): boolean {
  const [former, current] = [authoritiesOf(before), authoritiesOf(now)]
  const [formerUrl, url] = [before, now].map((config) => URL.parse(config.getCurrentCluster()?.server ?? ''))
  if (former.length === 0 || formerUrl?.pathname !== url?.pathname) return formerUrl?.href !== url?.href
  return !former.some((authority) => current.includes(authority))
}

function authoritiesOf(config: KubeConfig): string[] {
  const { caFile, caData = '', server } = config.getCurrentCluster() ?? {}
  // After a rotation, the file at the same path is still our CA. Beside a new server, it may be another cluster's.
  if (caFile) return [`${caFile} of ${server}`]
  const text = Buffer.from(caData, 'base64').toString('latin1').replace(/\s/g, '')
  return text.match(/-BEGINCERTIFICATE-.*?-ENDCERTIFICATE-/g) ?? []
}

/** The names of the contexts, even if the current one is wrong. */
export async function contextNames({ file }: Pick<KubeconfigOptions, 'file'>): Promise<string[]> {
  return (await loadFiles({ file })).getContexts().map(({ name }) => name)
}

async function load({ context, ...options }: KubeconfigOptions): Promise<KubeConfig> {
  const config = await loadFiles(options)
  if (context !== undefined) config.setCurrentContext(context)
  if (config.getCurrentCluster() === null) {
    const names = config.getContexts().map(({ name }) => name)
    const contexts = names.length > 0 ? `the contexts are ${names.join(', ')}` : 'the file has no contexts'
    throw new Error(`context "${config.getCurrentContext()}" has no cluster; ${contexts}`)
  }
  return config
}

async function loadFiles({ file, root = '/' }: KubeconfigOptions): Promise<KubeConfig> {
  const { KubeConfig } = await import('./kubeconfig-library.ts')
  const config = new KubeConfig()
  const [first, ...others] = pathsIn(file)
  if (first === undefined) loadDefault(config, root)
  else config.loadFromFile(first)
  // Like kubectl with KUBECONFIG: it merges several files, and the first one sets the current context.
  for (const path of others) {
    const part = new KubeConfig()
    part.loadFromFile(path)
    config.mergeConfig(part, true)
  }
  return config
}

/** Loads what kubectl would read: the files of KUBECONFIG, the one in the home folder, or a pod's service account. */
function loadDefault(config: KubeConfig, root: string): void {
  config.loadFromDefault(undefined, true)
  // The first of several files may set no context: then the last one that does applies.
  if (!config.getCurrentContext()) config.loadFromDefault()
  if (!contextsWithoutFile.includes(config.getCurrentContext())) return
  const hasAccount = existsSync(join(root, serviceAccountToken))
  if (hasAccount) config.loadFromCluster(root === '/' ? '' : root)
  // The library returns this if the kubelet has set no API server, so this is no pod.
  if (!hasAccount || config.getCurrentCluster()?.server === 'https://undefined:undefined')
    throw new Error('no such file; name one, or run in a pod that has a service account')
}

async function accessOf(config: KubeConfig, { context, server }: KubeconfigOptions): Promise<Access> {
  const cluster = config.getCurrentCluster()
  const request: RequestOptions = {}
  await withoutAgentCache(config).applyToHTTPSOptions(request)
  const namespace = config.getContextObject(context ?? config.getCurrentContext())?.namespace
  return {
    url: server ?? cluster?.server ?? '',
    headers: headersOf(request),
    tls: tlsOf(request),
    ...(server === undefined &&
      cluster?.proxyUrl !== undefined &&
      typeof request.agent === 'object' && { proxy: request.agent }),
    ...(namespace !== undefined && { namespace }),
  }
}

/** The library caches its first agent, and with it an old client certificate. We drop only that cache and keep the plugins'. */
function withoutAgentCache(config: KubeConfig): KubeConfig {
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
  return defined({ ca, cert, key, pfx, passphrase, rejectUnauthorized, servername })
}

function rethrowWithPlace(error: unknown, { file }: KubeconfigOptions): never {
  const place = `kubeconfig ${file ?? 'that KUBECONFIG names, or ~/.kube/config'}`
  if (!(error instanceof Error)) throw new Error(`${place}: cannot be read`)
  // These two errors quote the unparsable text: a plugin's output or lines of the file, either of which may contain a token.
  if (error instanceof SyntaxError) throw new Error(`${place}: the output of its exec plugin is not JSON`)
  if (error.name === 'YAMLException') throw new Error(`${place}: is not YAML: ${error.message.split('\n')[0]}`)
  throw new Error(`${place}: ${error.message.trim()}`, { cause: error })
}

/** The API server's place: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT, which the kubelet sets, or a URL. */
type InClusterOptions = ({ host: string; port: string | number } | { url: string }) & {
  /** The folder of the service account's files. */
  directory?: string
  now?: () => number
}

const mountPoint = '/var/run/secrets/kubernetes.io/serviceaccount'

/**
 * The credentials of the pod's service account. The kubelet renews the token about hourly, so the files are read each
 * minute.
 */
export function inCluster({ directory = mountPoint, now, ...where }: InClusterOptions): Credentials {
  const url =
    'url' in where ? where.url : `https://${isIPv6(where.host) ? `[${where.host}]` : where.host}:${where.port}`
  const file = (name: string) => readMounted(join(directory, name))

  const read = async () => {
    const [token, ca, namespace] = await Promise.all([file('token'), file('ca.crt'), file('namespace')])
    return { url, headers: { authorization: `Bearer ${token}` }, tls: { ca }, namespace }
  }
  return cachedCredentials(read, { maxAgeMs: 60_000, now })
}

async function readMounted(path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).trim()
  } catch (cause) {
    const hint = 'a pod has it unless automountServiceAccountToken is false; outside a cluster set a kubeconfig'
    throw new Error(`service account file ${path}: cannot be read; ${hint}`, { cause })
  }
}

type EnvironmentVariables = Readonly<Record<string, string | undefined>>

/** Our credentials for the API server, which `apiServer` may name: from a kubeconfig, else from the pod. */
export function credentialsOf(
  { kubeconfig: file, apiServer }: { kubeconfig: string | undefined; apiServer: string | undefined },
  env: EnvironmentVariables,
): Credentials {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '443' } = env
  if (file !== undefined || host === undefined) return kubeconfig({ file, server: apiServer })
  return inCluster(apiServer === undefined ? { host, port } : { url: apiServer })
}
