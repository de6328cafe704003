import { valueRows } from './chart-values.ts'

/** A setting of `serve` that the chart passes on, from the tables of the process. */
export type SettingFact = {
  name: string
  sentence: string
  type: 'boolean' | 'duration' | 'list' | 'number' | 'text'
  /** The pattern of every text that the process reads. */
  pattern?: string
  range?: { from: number; to: number }
  findsControlPlaneAddress?: true
}

/** The settings that a dialect accepts, and the fields of its configuration file without which it does not start. */
export type DialectFact = {
  name: string
  providers: readonly string[]
  settings: SettingFact[]
  requiredFields: string[]
}

const types = {
  boolean: ['boolean', 'string'],
  duration: ['string', 'integer'],
  list: ['array', 'string'],
  number: ['integer', 'string'],
  text: ['string', 'integer', 'boolean'],
}

type Schema = { [name: string]: unknown; properties?: Record<string, Schema> }

/** values.schema.json: Helm refuses values that the process would refuse, and unknown names. */
export function valuesSchema(dialects: DialectFact[]): string {
  const root: Schema = { $schema: 'http://json-schema.org/draft-07/schema#', ...closed() }
  for (const { path, default: value, sentence, schema } of valueRows) {
    const parents = path.split('.')
    const name = parents.pop() ?? ''
    let at = root
    for (const parent of parents) {
      at.properties ??= {}
      at = at.properties[parent] ??= closed()
    }
    at.properties = { ...at.properties, [name]: { description: sentence, ...(schema ?? { type: typeof value }) } }
  }
  const providers = dialects.flatMap((dialect) => dialect.providers)
  const known = Map.groupBy(
    dialects.flatMap((dialect) => dialect.settings),
    ({ name }) => name,
  )
  const properties = { ...root.properties, cloudProvider: cloudProvider(providers), settings: settings(known) }
  const allOf = dialects.map((dialect) => byDialect(dialect, known))
  // Helm's own values for subcharts.
  return json({ ...root, properties: { ...properties, global: { type: 'object' } }, allOf })
}

function closed(): Schema {
  return { type: 'object', additionalProperties: false, properties: {} }
}

function cloudProvider(providers: string[]): object {
  // A template refuses an empty value: helm lint validates the defaults, and a template can say what is required.
  return { description: sentenceOf('cloudProvider'), enum: ['', ...providers] }
}

type KnownSettings = Map<string, SettingFact[]>

function settings(known: KnownSettings): object {
  const properties = [...known].map(([name, facts]) => [name, property(facts)])
  return {
    description: sentenceOf('settings'),
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(properties),
  }
}

/** A setting with every value that any dialect accepts. An empty text means that it is not set. */
function property(facts: SettingFact[]): object {
  const { sentence, type, range } = facts.at(-1) as SettingFact
  return {
    description: sentence,
    type: types[type],
    ...patternOf(facts),
    ...(range && { minimum: range.from, maximum: range.to }),
    // The only duration that may be a number without a unit is 0.
    ...(type === 'duration' && { minimum: 0, maximum: 0 }),
  }
}

/** The pattern of every text that any of these facts allows; absent if one allows all. */
function patternOf(facts: SettingFact[]): { pattern?: string } {
  const patterns = [...new Set(facts.map(({ pattern }) => pattern))]
  if (patterns.includes(undefined)) return {}
  return { pattern: ['^$', ...patterns].map((pattern) => `(${pattern})`).join('|') }
}

/** If a dialect is chosen, only its settings, with the values that it allows. */
function byDialect({ providers, settings: own }: DialectFact, known: KnownSettings): object {
  const isChosen = { properties: { cloudProvider: { enum: providers } } }
  const isNarrower = (fact: SettingFact) => patternOf([fact]).pattern !== patternOf(known.get(fact.name) ?? []).pattern
  const properties = Object.fromEntries(own.filter(isNarrower).map((fact) => [fact.name, patternOf([fact])]))
  const ofDialect = { propertyNames: { enum: own.map(({ name }) => name) }, properties }
  return { anyOf: [{ not: isChosen }, { properties: { settings: ofDialect } }] }
}

function sentenceOf(path: string): string | undefined {
  return valueRows.find((row) => row.path === path)?.sentence
}

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`
}
