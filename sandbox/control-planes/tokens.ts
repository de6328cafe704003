import { randomBytes } from 'node:crypto'

type Token<Id> = { token: string; label: string; projects: Id[] }

/** Makes a token for each name; the name is its label in the call log. */
export function makeTokens<Id>(
  names: string[],
  project: Id,
): { tokens: Token<Id>[]; tokenOf: (name: string) => string } {
  const byName = new Map(names.map((name) => [name, randomBytes(16).toString('hex')]))
  return {
    tokens: [...byName].map(([label, token]) => ({ token, label, projects: [project] })),
    tokenOf(name) {
      const token = byName.get(name)
      if (token === undefined) throw new Error(`no token was made for ${name}`)
      return token
    },
  }
}
