// Words that read as translated, and the field's own for them. Pages and printed texts use the second.

/** A word or phrase that a text does not use, and its replacement. */
type Wording = { avoid: RegExp; use: string }

const wordings: Wording[] = [
  { avoid: /\banew\b/i, use: 'again' },
  { avoid: /\bmend(?:s|ed|ing)?\b/i, use: 'fix' },
  { avoid: /\bformer\b/i, use: 'previous' },
  { avoid: /\bwhoever\b/i, use: 'anyone who' },
  { avoid: /\b(?:goes|went) on\b/i, use: 'continues' },
  { avoid: /\b(?:is|are|was|were) gone\b/i, use: 'no longer exists' },
  { avoid: /\bby (?:itself|themselves)\b/i, use: 'automatically' },
  { avoid: /\bcarried out\b/i, use: 'succeed, complete' },
  { avoid: /\b(?:is|are) well\b/i, use: 'healthy' },
  { avoid: /\bin the way of\b|\bstands? in the way\b/i, use: 'blocks' },
  { avoid: /\bg(?:ive|ives|iven|iving) (?:\w+ ){0,3}back\b/i, use: 'release' },
  { avoid: /\bleads? (?:it|the address|an address|each address) to\b/i, use: 'routes to' },
  { avoid: /\b(?:withdraws|stops|moves|blocks) (?:no|nothing)\b/i, use: 'does not ...' },
  { avoid: /\bis to be done\b/i, use: 'no action, must' },
  { avoid: /\b(?:he|him|his)\b/i, use: 'they, their' },
  { avoid: /\bany more\b/i, use: 'no longer' },
  { avoid: /\bsays? so\b/i, use: 'reports, names' },
  { avoid: /\ban own\b/i, use: 'a user-chosen, its own' },
  { avoid: /\bcertificate authorit(?:y|ies)\b/i, use: 'CA' },
  { avoid: /\b(?:some (?:minutes|seconds)|in this moment|makes? sure yourself)\b/i, use: 'a few ..., just, make sure' },
]

/** A decision speaks of clouds as the code does; a user knows a provider. */
const forUsersOnly: Wording[] = [
  { avoid: /\bthe\s+cloud\b(?![ -](?:provider|controller))/i, use: 'the provider, or its name' },
]

/** A page for contributors may say "we"; a program has a name. */
const printedOnly: Wording[] = [
  { avoid: /\b(?:nobody|somebody|anybody|everybody)\b/i, use: 'you, a user, no process, or the passive' },
  { avoid: /\b(?:we|us|our|ours)\b/, use: 'eip-admission' },
]

/** The phrases of a text that another one replaces, each with that one. */
export function wordingProblems(text: string, { isPrinted = false, isDecision = false } = {}): string[] {
  const list = [...wordings, ...(isDecision ? [] : forUsersOnly), ...(isPrinted ? printedOnly : [])]
  return list.flatMap(({ avoid, use }) => {
    const found = avoid.exec(text)?.[0]
    return found === undefined ? [] : [`"${found}": write "${use}"`]
  })
}
