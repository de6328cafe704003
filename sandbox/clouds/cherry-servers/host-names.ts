const adjectives =
  'brave calm eager fair gentle happy keen lively model noble proud quick rare swift trusted witty'.split(' ')
const animals =
  'badger crane dolphin eagle falcon heron ibex jackal lynx marten otter panda raven stork trout wren'.split(' ')

/** Returns the host name of a server whose order has none: two words, as the vendor chooses them. */
export function hostNameFor(id: number): string {
  const [adjective = '', animal = ''] = [adjectives[id % 16], animals[Math.floor(id / 16) % 16]]
  return `${adjective}-${animal}`
}
