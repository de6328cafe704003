// In the bundle this takes the place of the package undici, 1 MB, which client-node has for its own calls. We have it read
// kubeconfigs and make no call with it. If it needs another export one day, the bundle cannot be built.

/** Throws: nothing in the bundle may make a call by undici. */
export function fetch(): never {
  throw new Error('the bundle of eip-admission has no undici: client-node may only read kubeconfigs')
}

export { fetch as Agent, fetch as ProxyAgent }
