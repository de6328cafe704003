import type { ProxyEnvironment } from './send.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** As in Go, in which the programs that we replace are written, local services are called without a proxy. */
const loopback = ['localhost', '127.0.0.1', '::1', '[::1]']

/**
 * The proxies for calls to the provider: HTTPS_PROXY or HTTP_PROXY, except for hosts in NO_PROXY. Calls to the API
 * server use none of these: a kubeconfig names their proxy.
 */
export function proxyOf(env: Environment): ProxyEnvironment {
  const value = (name: string) => env[name.toLowerCase()] || env[name]
  const [http, https] = [value('HTTP_PROXY'), value('HTTPS_PROXY')]
  for (const [name, given] of Object.entries({ HTTP_PROXY: http, HTTPS_PROXY: https }))
    if (given !== undefined && !/^https?:$/.test(URL.parse(given)?.protocol ?? ''))
      throw new Error(`${name} (its value is not shown) ${right}`)
  const forHttps = https ?? http
  return {
    ...(http !== undefined && { HTTP_PROXY: http }),
    ...(forHttps !== undefined && { HTTPS_PROXY: forHttps }),
    NO_PROXY: [...exceptions(value('NO_PROXY') ?? ''), ...loopback].join(','),
  }
}

/** As in Go, an entry means the host and its subdomains, while for Node a name means only the host. */
function exceptions(text: string): string[] {
  const names = text.split(/[,\s]+/).map((entry) => entry.replace(/^\*?\./, ''))
  return names.filter(Boolean).flatMap((name) => [name, `.${name}`])
}

const right = 'must be the URL of a proxy, such as http://proxy.example.com:3128'
