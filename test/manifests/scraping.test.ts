// Prometheus reads every replica and every guardian once, and no other port: as the operator is told, and as the guide says.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { defaultValues } from '../../manifests/generate/chart-values.ts'
import { inClusterParts } from '../../manifests/in-cluster.ts'
import { knownChoices } from '../../manifests/known-choices.ts'
import { names } from '../../settings/installed-names.ts'
import { parsePage } from '../docs/pages.ts'
import { type Rendered, objectsIn } from './render.ts'

const root = join(import.meta.dirname, '..', '..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')

type Pod = { metadata: { labels: Record<string, string> }; spec: { containers: { ports?: { name: string }[] }[] } }
type Labels = Record<string, string>
type Relabelling = { action?: string; source_labels: string[]; regex?: string }

const release = { namespace: 'eip-admission', name: 'eip-admission', manager: 'Helm', version: '1.2.3' }
const chart = inClusterParts(knownChoices(defaultValues(), release, 'segment'), [], []).flatMap(
  ({ objects }) => objects,
) as Rendered[]

function find(objects: Rendered[], kind: string, name: string): Rendered {
  const found = objects.find((object) => object.kind === kind && object.metadata.name === name)
  assert.ok(found, `${kind} ${name}`)
  return found
}

function podOf(workload: Rendered): Pod {
  return (workload as unknown as { spec: { template: Pod } }).spec.template
}

function portsOf({ spec }: Pod): string[] {
  return spec.containers.flatMap(({ ports = [] }) => ports.map(({ name }) => name))
}

/** The objects in the YAML of a guide. */
function shownIn(guide: string): Rendered[] {
  return parsePage(guide, read(`docs/guides/${guide}.md`))
    .blocks.filter(({ lang }) => lang === 'yaml')
    .flatMap(({ text }) => objectsIn(text))
}

/** The rules of a job of the guide, which say what is read. */
function relabellingOf(job: string): Relabelling[] {
  const [{ scrape_configs: jobs } = { scrape_configs: [] }] = shownIn('monitoring').filter(
    (shown) => 'scrape_configs' in shown,
  ) as unknown as { scrape_configs: { job_name: string; relabel_configs: Relabelling[] }[] }[]
  return jobs.find(({ job_name: name }) => name === job)?.relabel_configs ?? []
}

function isKept(target: Labels, rules: Relabelling[]): boolean {
  return rules
    .filter(({ action }) => action === 'keep')
    .every(({ source_labels: sources, regex }) =>
      new RegExp(`^(?:${regex})$`).test(sources.map((label) => target[label] ?? '').join(';')),
    )
}

/** The targets that Prometheus makes of a pod. */
function targetsOfPod(pod: Pod): Labels[] {
  const name = pod.metadata.labels['app.kubernetes.io/name'] ?? ''
  return portsOf(pod).map((port) => ({
    __meta_kubernetes_pod_label_app_kubernetes_io_name: name,
    __meta_kubernetes_pod_container_port_name: port,
  }))
}

/** Those that it makes of a Service and one of its pods: of each endpoint, and of each other port of the pod. */
function targetsOfService({ metadata, spec }: Rendered, pod: Pod): Labels[] {
  const { ports } = spec as { ports: { name: string; targetPort: string }[] }
  return targetsOfPod(pod).map((target) => {
    const endpoint = ports.find(({ targetPort }) => targetPort === target['__meta_kubernetes_pod_container_port_name'])
    return {
      ...target,
      __meta_kubernetes_service_name: metadata.name,
      ...(endpoint && { __meta_kubernetes_endpointslice_port_name: endpoint.name }),
    }
  })
}

/** The ports that an object of the Prometheus operator names. */
function readBy(kind: string, field: string): string[] {
  const monitor = objectsIn(read('manifests/monitoring/objects.yaml')).find((object) => object.kind === kind)
  const spec = monitor?.['spec'] as Record<string, { port: string }[]> | undefined
  return (spec?.[field] ?? []).map(({ port }) => port)
}

const guardians: Record<string, Rendered[]> = { chart, guide: shownIn('control-plane-address') }

for (const [of, objects] of Object.entries(guardians)) {
  test(`Prometheus reads each guardian at one port: the DaemonSet of the ${of}`, () => {
    const pod = podOf(find(objects, 'DaemonSet', names.guardian))
    const kept = targetsOfPod(pod).filter((target) => isKept(target, relabellingOf(names.guardian)))
    assert.equal(
      kept.map((target) => target['__meta_kubernetes_pod_container_port_name']),
      ['health'],
    )
    assert.equal(readBy('PodMonitor', 'podMetricsEndpoints'), ['health'])
  })
}

test('Prometheus reads each replica at one port', () => {
  const service = find(chart, 'Service', names.metricsService)
  const pod = podOf(find(chart, 'Deployment', names.deployment))
  assert.equal(portsOf(pod), ['webhook', 'health'])
  const kept = targetsOfService(service, pod).filter((target) => isKept(target, relabellingOf(names.deployment)))
  assert.equal(
    kept.map((target) => target['__meta_kubernetes_endpointslice_port_name']),
    ['metrics'],
  )
  assert.equal(readBy('ServiceMonitor', 'endpoints'), ['metrics'])
})

test.run()
