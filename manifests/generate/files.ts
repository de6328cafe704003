import { stringify } from 'yaml'
import { alertGroups, ruleGroup, runbooks } from '../../telemetry/alerts/rules.ts'
import { repository } from '../../settings/installed-names.ts'
import { type Condition, type Release, type ValueTree, isMet, isMap } from '../choices.ts'
import { dashboardModel } from '../../telemetry/dashboard/dashboard.ts'
import { elasticIPDefinition } from '../elastic-ip-crd.ts'
import { type Part, inClusterParts } from '../in-cluster.ts'
import { knownChoices, withoutAbsent } from '../known-choices.ts'
import type { WebhookFacts } from '../webhook-configurations.ts'
import { defaultValues, valueRows } from './chart-values.ts'
import type { ValueRow } from './pod-values.ts'
import { helmChoices, test } from './helm-choices.ts'
import { templateOf } from './template.ts'
import { type DialectFact, valuesSchema } from './values-schema.ts'

/** A file that is made from the code, by its path from the root of the project. */
export type GeneratedFile = { file: string; text: string }

export type ManifestFacts = {
  version: string
  /** The name and the text of the license. */
  license: { name: string; text: string }
  webhooks: WebhookFacts[]
  dialects: DialectFact[]
}

const kustomization = { apiVersion: 'kustomize.config.k8s.io/v1beta1', kind: 'Kustomization' }

/** The parts of the chart that the monitoring manifest contains. */
const monitoringParts = ['service-monitor', 'pod-monitor', 'prometheus-rule', 'dashboard']

const made = '# Made from manifests/*.ts by `make generate`.\n'

/** Manifests without Helm cannot contain a secret: the process makes one and replaces this placeholder. */
const pendingPath = 'pending'

/** The chart, the kustomizations and the monitoring. */
export function manifestFiles(facts: ManifestFacts): GeneratedFile[] {
  return [...chartFiles(facts), ...kustomizeFiles(facts), ...monitoringFiles(facts)]
}

/** The chart values by which the control-plane address is found. If any is set, the chart has guardians. */
export function guardedBy(dialects: DialectFact[]): string[] {
  const settings = dialects.flatMap((dialect) => dialect.settings).filter((fact) => fact.findsControlPlaneAddress)
  return [...new Set(settings.map(({ name }) => `settings.${name}`))].toSorted()
}

function chartFiles({ version, license, webhooks, dialects }: ManifestFacts): GeneratedFile[] {
  const guardians = guardedBy(dialects)
  const templates = inClusterParts(helmChoices, webhooks, guardians).map((part) => ({
    file: `manifests/chart/templates/${part.file}.yaml`,
    text: made + chartTemplate(part),
  }))
  return [
    { file: 'manifests/chart/Chart.yaml', text: made + stringify(chart(version, license.name), { lineWidth: 0 }) },
    { file: 'manifests/chart/LICENSE', text: license.text },
    { file: 'manifests/chart/values.yaml', text: `${made}${head}${lines(defaultValues(), '').join('\n')}\n` },
    { file: 'manifests/chart/README.md', text: chartReadme() },
    { file: 'manifests/chart/values.schema.json', text: valuesSchema(dialects) },
    { file: 'manifests/chart/templates/_guarded.tpl', text: made + namedTest('guarded', { anyOf: guardians }) },
    {
      file: 'manifests/chart/templates/_cloud.tpl',
      text: made + cloudProviders(dialects) + cloudConfigExample(dialects),
    },
    ...templates,
  ]
}

function chart(version: string, license: string): object {
  const pages = `${repository}/blob/main`
  const defaults = defaultValues()['image'] as ValueTree
  return {
    apiVersion: 'v2',
    name: 'eip-admission',
    description: 'Public addresses for Services of type LoadBalancer on bare metal, reserved at admission',
    type: 'application',
    version,
    appVersion: version,
    kubeVersion: '>=1.30.0-0',
    home: repository,
    icon: `${repository}/raw/main/docs/pictures/icon.svg`,
    sources: [repository],
    keywords: ['loadbalancer', 'elastic-ip', 'floating-ip', 'bare-metal', 'bgp', 'cloud-provider'],
    maintainers: [{ name: 'eip-admission', url: repository }],
    annotations: {
      'artifacthub.io/category': 'networking',
      'artifacthub.io/license': license,
      'artifacthub.io/operator': 'true',
      'artifacthub.io/crds': stringify([definitionOf(elasticIPDefinition)]),
      'artifacthub.io/images': stringify([
        { name: 'eip-admission', image: `${String(defaults['repository'])}:${version}` },
      ]),
      'artifacthub.io/changes': stringify([{ kind: 'added', description: `All changes: ${pages}/CHANGELOG.md` }]),
      'artifacthub.io/links': stringify([
        { name: 'Install', url: `${pages}/docs/guides/install.md` },
        { name: 'Troubleshooting', url: `${pages}/docs/guides/troubleshooting.md` },
      ]),
    },
  }
}

/** The CRD as Artifact Hub lists it. */
function definitionOf({ metadata, spec: { names: of, versions } }: typeof elasticIPDefinition): object {
  const description = 'The record of one reserved address: which Service holds it, and which reservation it is.'
  return { kind: of.kind, version: versions[0]?.name, name: metadata.name, displayName: of.kind, description }
}

/** A condition for handwritten templates to include. An empty text means that it is not met. */
function namedTest(name: string, condition: Condition): string {
  return `{{- define "eip-admission.${name}" -}}\n{{- if ${test(condition)} }}true{{ end -}}\n{{- end }}\n`
}

/** The names of all providers, for the message when none is chosen. */
function cloudProviders(dialects: DialectFact[]): string {
  const providers = dialects.flatMap((dialect) => dialect.providers).join(', ')
  return `{{- define "eip-admission.cloudProviders" -}}\n${providers}\n{{- end }}\n`
}

/** An example of the configuration file in the chosen provider's Secret, for the handwritten notes. */
function cloudConfigExample(dialects: DialectFact[]): string {
  const examples = dialects.flatMap(({ providers, requiredFields }) => {
    const example = `{${requiredFields.map((field) => `"${field}": "..."`).join(', ')}}`
    return providers.map((is) => `{{- if ${test({ value: 'cloudProvider', is })} }}${example}{{ end -}}\n`)
  })
  return `{{- define "eip-admission.cloudConfig" -}}\n${examples.join('')}{{- end }}\n`
}

function chartTemplate({ conditions, objects }: Part): string {
  const text = objects.map(templateOf).join('---\n')
  if (conditions.length === 0) return text
  return `{{- if and ${conditions.map(test).join(' ')} }}\n${text}{{- end }}\n`
}

/** The objects of every provider, without Helm. An overlay adds the provider's name. */
function baseObjects({ webhooks, version, dialects }: ManifestFacts): object[] {
  const release = kustomizeRelease(version)
  const all = valuesWithoutHelm({ cloudProvider: '' })
  const parts = inClusterParts(knownChoices(all, release, pendingPath), webhooks, guardedBy(dialects))
  return [namespaceOf(release.namespace), ...installedParts(parts, all, 'kubectl').flatMap(({ objects }) => objects)]
}

function kustomizeRelease(version: string): Release {
  return { namespace: 'eip-admission', name: 'eip-admission', manager: 'kubectl', version }
}

/** The parts whose conditions these values meet, by what applies them. */
export function installedParts(parts: Part[], values: ValueTree, by: 'helm' | 'kubectl'): Part[] {
  return parts
    .filter(({ helmOnly }) => by === 'helm' || !helmOnly)
    .filter(({ conditions }) => conditions.every((condition) => isMet(values, condition)))
    .map((part) => ({ ...part, objects: withoutAbsent(part.objects) as object[] }))
}

/** The chart's defaults. Without Helm, records and their CRD are removed only together. */
function valuesWithoutHelm(values: ValueTree): ValueTree {
  return { ...defaultValues(), ...values, crds: { enabled: true, keep: false } }
}

function namespaceOf(name: string): object {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }
}

function kustomizeFiles(facts: ManifestFacts): GeneratedFile[] {
  const base = baseObjects(facts)
  const folder = 'manifests/kustomize'
  return [
    { file: `${folder}/base/eip-admission.yaml`, text: made + documents(base) },
    {
      file: `${folder}/base/kustomization.yaml`,
      text: made + stringify({ ...kustomization, resources: ['eip-admission.yaml'] }),
    },
    ...facts.dialects.map(({ name, providers }) => ({
      file: `${folder}/overlays/${name}/kustomization.yaml`,
      text: made + stringify({ ...kustomization, resources: ['../../base'], patches: [choice(providers[0] ?? '')] }),
    })),
  ]
}

/** The files for Prometheus and Grafana: as files, and as objects for clusters with their operators. */
function monitoringFiles({ version, webhooks }: ManifestFacts): GeneratedFile[] {
  const folder = 'manifests/monitoring'
  const groups = [ruleGroup(alertGroups, { runbooks, literal: (text) => text })]
  // All parts, regardless of the values. Guardians are included because the cluster may have them.
  const choices = knownChoices(valuesWithoutHelm({}), kustomizeRelease(version), pendingPath)
  const parts = inClusterParts(choices, webhooks, []).filter(({ file }) => monitoringParts.includes(file))
  const objects = parts.flatMap((part) => withoutAbsent(part.objects) as object[])
  return [
    { file: `${folder}/eip-admission.rules.yaml`, text: made + stringify({ groups }, { lineWidth: 0 }) },
    { file: `${folder}/dashboard.json`, text: `${JSON.stringify(dashboardModel(), null, 2)}\n` },
    { file: `${folder}/objects.yaml`, text: made + documents(objects) },
    { file: `${folder}/kustomization.yaml`, text: made + stringify({ ...kustomization, resources: ['objects.yaml'] }) },
  ]
}

/** The provider's flag is the second argument of the Deployment. */
function choice(provider: string): object {
  const operation = {
    op: 'replace',
    path: '/spec/template/spec/containers/0/args/1',
    value: `--cloud-provider=${provider}`,
  }
  return { target: { kind: 'Deployment', name: 'eip-admission' }, patch: stringify([operation], { lineWidth: 0 }) }
}

function documents(objects: object[]): string {
  return objects.map((object) => stringify(object, { lineWidth: 0, aliasDuplicateObjects: false })).join('---\n')
}

/** The package is read without the rest of the repository, so its links are absolute. */
const docs = `${repository}/blob/main/docs`

const opening = `# eip-admission

Public addresses for Services of type LoadBalancer on bare metal, reserved at admission.

\`\`\`sh no-run=is-a-test
kubectl create namespace eip-admission
kubectl -n eip-admission create secret generic eip-admission-cloud \\
  --from-literal=cloud-sa.json='{"apiKey": "...", "projectID": "..."}'
helm install eip-admission manifests/chart --namespace eip-admission \\
  --set cloudProvider=cherryservers --set settings.region=LT-Siauliai --set settings.loadbalancer=metallb:///
\`\`\`

No image is published yet: [build one](${docs}/guides/install.md#the-image) and name it with \`image.repository\` and
\`image.tag\`. Install the chart once per cluster, because the names of its objects are fixed. [The
guide](${docs}/guides/install.md) covers upgrades and uninstalling too.

## Values

\`settings\` takes the flags of \`eip-admission serve\` that have no value of their own here ([all settings](${docs}/reference/settings.md)). Helm refuses
settings that the chosen provider does not have.
`

/** The README of the chart, with a table of its values. */
function chartReadme(): string {
  const head = ['| value | default | meaning |', '| --- | --- | --- |']
  return `${opening}\n${[...head, ...valueRows.map(line)].join('\n')}\n`
}

function line({ path, default: value, sentence }: ValueRow): string {
  const text = JSON.stringify(value)
  const shown = text.length > 60 ? 'see values.yaml' : `\`${text}\``
  return `| \`${path}\` | ${shown} | ${sentence.replaceAll('|', '\\|')} |`
}

const head = '# The values of the chart, with their defaults. README.md has them as a table.\n'

function lines(tree: object, prefix: string): string[] {
  return Object.entries(tree).flatMap(([name, value]: [string, unknown]) => {
    const path = `${prefix}${name}`
    const indent = ' '.repeat(2 * (path.split('.').length - 1))
    const row = valueRows.find((candidate) => candidate.path === path)
    if (row) return ['', ...comment(row), ...entry(name, value)].map((line) => (line === '' ? '' : indent + line))
    if (!isMap(value)) throw new Error(`${path} is not a value of the chart`)
    return ['', `${indent}${name}:`, ...lines(value, `${path}.`).slice(1)]
  })
}

function entry(name: string, value: unknown): string[] {
  return stringify({ [name]: value }, { lineWidth: 0 })
    .trimEnd()
    .split('\n')
}

/** The sentence in lines of at most about 100 characters. */
function comment({ sentence }: ValueRow): string[] {
  const wrapped: string[] = ['']
  for (const word of sentence.split(' ')) {
    const last = wrapped.at(-1) ?? ''
    if (last.length + word.length < 100) wrapped[wrapped.length - 1] = `${last} ${word}`
    else wrapped.push(` ${word}`)
  }
  return wrapped.map((line) => `#${line}`)
}
