/** A file with one line changed. */
export type Mutation = { path: string; line: number; was: string; now: string; text: string }

type Rule = { from: RegExp; to: string }

const rules: Rule[] = [
  { from: / && /, to: ' || ' },
  { from: / \|\| /, to: ' && ' },
  { from: / === /, to: ' !== ' },
  { from: / !== /, to: ' === ' },
  { from: / < /, to: ' <= ' },
  { from: / > /, to: ' >= ' },
  { from: / \+ /, to: ' - ' },
  { from: /\bMath\.max\(/, to: 'Math.min(' },
  { from: /\bMath\.min\(/, to: 'Math.max(' },
  { from: /\btrue\b/, to: 'false' },
  { from: /\bfalse\b/, to: 'true' },
  { from: /\bif \(/, to: 'if (!' },
  { from: /\.some\(/, to: '.every(' },
  { from: /\.every\(/, to: '.some(' },
  { from: / \?\? \S+?(?=[,;)]|$)/, to: '' },
  // A step, a pause or a check that is left out.
  { from: /^(\s+)(await )?[\w.]+\(.*\)$/, to: '$1' },
  { from: /^(\s+)if \(.*\) (return|throw|continue)\b.*$/, to: '$1' },
]

/** Every change that a rule makes of a line of code. */
export function mutationsOf(path: string, source: string): Mutation[] {
  const lines = source.split('\n')
  return lines.flatMap((was, index) =>
    isCode(was)
      ? rules.flatMap(({ from, to }) => {
          const now = changed(was, { from, to })
          return now === was ? [] : [{ path, line: index + 1, was, now, text: lines.with(index, now).join('\n') }]
        })
      : [],
  )
}

function changed(line: string, { from, to }: Rule): string {
  const now = line.replace(from, to)
  // The whole condition is negated, not the first part of it.
  if (to !== 'if (!' || now === line) return now
  const end = line.lastIndexOf(')')
  return line.endsWith('{') ? `${line.slice(0, end)}))${line.slice(end + 1)}`.replace(from, 'if (!(') : now
}

/** No two objects that a comparator gets have the same name, so its order of equals is no mistake. */
function isCode(line: string): boolean {
  return !/^\s*(\/\/|\/?\*|import |export type|\} from )|\bone\.name < other\.name\b/.test(line)
}
