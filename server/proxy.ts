import { setGlobalProxyFromEnv } from 'node:http'

type Environment = Readonly<Record<string, string | undefined>>

/** As in Go, whose programs we replace, no proxy is asked for a service on the same machine. */
const loopback = ['localhost', '127.0.0.1', '::1', '[::1]']

/**
 * Calls to the cloud go through the proxy of HTTPS_PROXY or HTTP_PROXY, except to hosts in NO_PROXY. Calls to the API
 * server do not: a kubeconfig names their proxy.
 */
export function useProxyOf(env: Environment): void {
  const value = (name: string) => env[name.toLowerCase()] || env[name]
  const [http, https] = [value('HTTP_PROXY'), value('HTTPS_PROXY')]
  if (http === undefined && https === undefined) return
  const exceptions = [value('NO_PROXY'), ...loopback].filter((item) => item !== undefined).join(',')
  for (const [name, given] of Object.entries({ HTTP_PROXY: http, HTTPS_PROXY: https }))
    if (given !== undefined && !isProxyUrl(given)) throw new Error(`${name} (its value is not shown) ${right}`)
  setGlobalProxyFromEnv({ http_proxy: http, https_proxy: https, no_proxy: exceptions })
}

const right = 'must be the URL of a proxy, such as http://proxy.example.com:3128'

function isProxyUrl(text: string): boolean {
  return /^https?:$/.test(URL.parse(text)?.protocol ?? '')
}
