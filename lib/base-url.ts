/** Where plain http is allowed: credentials must not cross a network in the clear. */
export type PlainHttp = 'never' | 'loopback' | 'anywhere'

/** The base URL of an API without trailing slashes, or what is wrong with the text; `problem` is worded to follow the text. */
export function parseBaseUrl(text: string, plainHttp: PlainHttp): { url: string } | { problem: string } {
  const url = URL.parse(text)
  if (!url) return { problem: 'is not a URL' }
  if (url.username || url.password) return { problem: 'contains a login' }
  if (/[?#]/.test(text)) return { problem: 'contains a query or a fragment' }
  if (!isSchemeAllowed(url, plainHttp)) return { problem: schemeProblem[plainHttp] }
  return { url: url.href.replace(/\/+$/, '') }
}

const schemeProblem = {
  never: 'is not an https:// URL',
  loopback: 'is not an https:// URL; http:// is possible only to a loopback address such as 127.0.0.1',
  anywhere: 'is neither an https:// nor an http:// URL',
}

function isSchemeAllowed({ protocol, hostname }: URL, plainHttp: PlainHttp): boolean {
  if (protocol === 'https:') return true
  if (protocol !== 'http:' || plainHttp === 'never') return false
  return plainHttp === 'anywhere' || isLoopback(hostname)
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname)
}
