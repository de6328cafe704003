import { elasticIPDefinition } from '../../manifests/elastic-ip-crd.ts'

type Rule = { message: string }
type Schema = {
  type?: string
  format?: string
  description?: string
  enum?: readonly string[]
  default?: unknown
  required?: readonly string[]
  properties?: Record<string, Schema>
  items?: Schema
  'x-kubernetes-validations'?: readonly Rule[]
}

const { names, group, versions, scope } = elasticIPDefinition.spec
const [version] = versions

const opening = `# ElasticIP

An ElasticIP records a public address of the project, and the Service that holds it. It is to an address what a
PersistentVolume is to a disk. eip-admission writes one for each Service. An operator can write one to
[provision an address](../guides/available-addresses.md).

- API version: \`${group}/${version?.name}\`, kind \`${names.kind}\`, short name \`${names.shortNames.join()}\`
- Scope: ${scope}. [Rights](../guides/rights.md) says who may do what.
- The record of a Service is named \`<namespace>.<service>\`, and that of its second address \`<namespace>.<service>.ipv4\`
  or \`.ipv6\`. Give your own ElasticIPs names without dots.

\`\`\`sh run
kubectl get eip -o wide
kubectl get eip -l eip-admission.dev/service-namespace=default
kubectl get eip --field-selector status.phase=Requested
kubectl explain eip.spec
\`\`\`

Field selectors need Kubernetes 1.31. The conditions follow the conventions of the Kubernetes API, so \`kubectl wait
--for=condition=Ready\`, Flux and Helm 4 understand them. \`Ready\` is true while the address is in use, can be claimed, or is
retained. \`Stalled\` exists only while a person must change something; its reason and message say what.
`

/** The reference page of ElasticIP, in Markdown, from the schema of the CRD. */
export function elasticIPReference(): string {
  const schema = version?.schema.openAPIV3Schema as Schema
  const { spec = {}, status = {} } = schema.properties ?? {}
  return [
    opening,
    `## Spec\n\n${spec.description}\n\n${fieldTable(spec, 'spec')}\n`,
    `## Status\n\n${status.description}\n\n${fieldTable(status, 'status')}\n`,
    `## Rules\n\nThe API server refuses an ElasticIP that breaks one of these rules, with this text:\n\n${rulesOf(schema).join('\n')}\n`,
    `## Columns\n\n\`kubectl get eip\` shows these; those with \`-o wide\` are marked.\n\n${columns()}\n`,
  ].join('\n')
}

function fieldTable(schema: Schema, path: string): string {
  return ['| field | type | meaning |', '| --- | --- | --- |', ...fieldRows(schema, path)].join('\n')
}

/** A row for each field below a schema; fields of list items have `[]` in their path. */
function fieldRows({ properties = {}, required = [] }: Schema, path: string): string[] {
  return Object.entries(properties).flatMap(([name, field]) => {
    const isList = field.type === 'array'
    const below = isList ? (field.items ?? {}) : field
    const place = `${path}.${name}${isList ? '[]' : ''}`
    const facts = [
      ...(field.enum ? [`One of ${field.enum.map((value) => `\`${value}\``).join(', ')}.`] : []),
      ...(typeof field.default === 'string' ? [`Default: \`${field.default}\`.`] : []),
      ...(required.includes(name) ? ['Required.'] : []),
    ]
    const cells = [`\`${place}\``, typeName(field), [field.description ?? '', ...facts].join(' ').trim()]
    return [`| ${cells.join(' | ')} |`, ...fieldRows(below, place)]
  })
}

function typeName({ type = '', format, items }: Schema): string {
  if (type === 'array') return `list of ${items?.type}`
  return format === 'date-time' ? 'time' : type
}

function rulesOf(schema: Schema): string[] {
  const own = (schema['x-kubernetes-validations'] ?? []).map(({ message }) => `- ${message.replaceAll('<', '\\<')}`)
  return [...own, ...Object.values(schema.properties ?? {}).flatMap(rulesOf)]
}

function columns(): string {
  const rows = (version?.additionalPrinterColumns ?? []).map(({ name, jsonPath, ...column }) => {
    const isWide = 'priority' in column && (column.priority ?? 0) > 0
    return `- **${name}**${isWide ? ' (`-o wide`)' : ''}: \`${jsonPath}\``
  })
  return rows.join('\n')
}
