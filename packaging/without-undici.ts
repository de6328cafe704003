// In the bundle this replaces the package undici, 1 MB, with which client-node makes its own calls. We only read
// kubeconfigs with client-node. If it ever needs another export, the build fails.

/** Throws: nothing in the bundle may make a call with undici. */
export function fetch(): never {
  throw new Error('the bundle of eip-admission has no undici: client-node may only read kubeconfigs')
}

export { fetch as Agent, fetch as ProxyAgent }
