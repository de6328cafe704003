import type { Choices, Condition } from '../choices.ts'

/**
 * A place in a template that Helm fills. It holds a scalar, a block of YAML, the entries of a map, the items of a list,
 * or the flags of settings.
 */
export class Reference {
  readonly kind: 'scalar' | 'block' | 'entries' | 'items' | 'flags'
  readonly expression: string

  constructor(kind: Reference['kind'], expression: string) {
    this.kind = kind
    this.expression = expression
  }
}

/** A map entry or a list item that Helm leaves out if the test fails. */
export class Conditional {
  readonly test: string
  readonly value: unknown

  constructor(test: string, value: unknown) {
    this.test = test
    this.value = value
  }
}

/** The choices of the chart: Helm makes them when it renders the templates. */
export const helmChoices: Choices = {
  text: (path) => `{{ ${reference(path)} }}`,
  scalar: (path) => new Reference('scalar', reference(path)),
  block: (path) => new Reference('block', reference(path)),
  entries: (path) => ({ [path]: new Reference('entries', reference(path)) }),
  joined: (path, otherwise) => `{{ join \`,\` ${reference(path)} | default ${quoted(otherwise)} }}`,
  items: (path) => [new Reference('items', reference(path))],
  when: (condition, then) => new Conditional(test(condition), then),
  unless: (condition, then) => new Conditional(`not ${test(condition)}`, then),
  either: (condition, then, otherwise) =>
    new Reference('scalar', `ternary ${then} ${otherwise} (not (not ${test(condition)}))`),
  flags: (path) => [new Reference('flags', reference(path))],
  release: {
    namespace: '{{ .Release.Namespace }}',
    name: '{{ .Release.Name }}',
    manager: '{{ .Release.Service }}',
    version: '{{ .Chart.AppVersion }}',
    // A label may not contain a plus sign.
    chart: '{{ .Chart.Name }}-{{ .Chart.Version | replace `+` `_` }}',
  },
  image: '{{ include `eip-admission.image` . }}',
  pathSecret: '{{ include `eip-admission.pathSecret` . }}',
  base64: (text) => text.replace(/ }}$/, ' | b64enc }}'),
  literal: (text) => text.replaceAll('{{', '{{ `{{` }}'),
}

/** The test of a condition, in Helm's syntax. */
export function test(condition: Condition): string {
  if ('anyOf' in condition) return `(or ${condition.anyOf.map(reference).join(' ')})`
  const { value, is } = condition
  if (is === undefined) return reference(value)
  // Helm has several number types, and none of them compares with an absent value.
  const compared = typeof is === 'number' ? `(toString ${reference(value)})` : reference(value)
  return `(eq ${compared} ${quoted(String(is))})`
}

/** A value in Helm's syntax. A name with a dash needs `index`. */
function reference(path: string): string {
  if (!path.includes('-')) return `.Values.${path}`
  return `(index .Values ${path.split('.').map(quoted).join(' ')})`
}

/** A literal without double quotes, because expressions are inside quoted YAML. */
function quoted(text: string): string {
  return `\`${text}\``
}
