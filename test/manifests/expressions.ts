// The names in an expression of Prometheus. promtool has no output of its parser, so these are read from the text.

/** The metrics of an expression, and the labels that it uses. */
export type Named = { metrics: string[]; labels: string[] }

const words = new Set(['and', 'or', 'unless', 'by', 'on', 'offset', 'without', 'ignoring', 'group_left', 'bool'])

/** Reads an expression that promtool has found correct. */
export function namedIn(expression: string): Named {
  const bare = expression.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""')
  const matchers = [...bare.matchAll(/([a-z_]+)\s*(?:=~|!~|!=|=)\s*""/g)].map(([, label = '']) => label)
  const lists = [...bare.matchAll(/\b(?:by|on)\s*\(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/\s*,\s*/))
  const rest = bare
    .replaceAll(/\{[^}]*\}|\[[^\]]*\]/g, ' ')
    .replaceAll(/\b(?:by|on)\s*\([^)]*\)/g, ' ')
    .replaceAll(/\boffset\s+\w+/g, ' ')
  const metrics = [...rest.matchAll(/\b[a-z][a-z0-9_]*\b(?!\s*\()/g)].map(([word]) => word)
  return {
    metrics: [...new Set(metrics.filter((word) => !words.has(word)))],
    labels: [...new Set([...matchers, ...lists.map((label) => label.trim())])],
  }
}
