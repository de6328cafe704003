// A cloud that nobody has, as the folder of a vendor: its settings, its names and its provider. Its client is in memory.
import { loadBalancer } from '../../announcers/load-balancer-setting.ts'
import { serviceLocation } from '../../clouds/dialect/annotations.ts'
import { defineDialect } from '../../clouds/dialect/define-dialect.ts'
import { withProvider } from '../../clouds/dialect/with-provider.ts'
import { annotation, text, token } from '../../settings/formats.ts'
import type { SettingsTable } from '../../settings/setting.ts'
import { scriptedCloud } from '../fakes/scripted-cloud.ts'

/** The project at the cloud, for the test to look into. */
export const toyProject = scriptedCloud()

const rows = {
  apiKey: {
    title: 'API key',
    env: 'TOY_API_KEY',
    field: 'apiKey',
    format: token,
    required: true,
    sentence: 'Token for the API of the toy.',
    isReloaded: true,
  },
  projectId: {
    title: 'project',
    env: 'TOY_PROJECT_ID',
    format: text('id'),
    required: true,
    sentence: 'The project that pays.',
  },
  shelf: {
    title: 'shelf',
    flag: '--shelf',
    env: 'TOY_SHELF',
    format: text('code'),
    unset: "the Service's annotation",
    sentence: 'Shelf on which new addresses are reserved.',
  },
  loadBalancer: {
    title: 'load balancer',
    flag: '--loadbalancer',
    env: 'TOY_LOAD_BALANCER',
    format: loadBalancer({ namespaceAlone: 'crd' }),
    default: 'none',
    sentence: 'Software that announces addresses.',
  },
  annotationShelf: {
    title: 'shelf annotation',
    flag: '--annotation-shelf',
    format: annotation,
    default: 'toy.example/shelf',
    sentence: 'Name of the annotation by which a Service requests a shelf.',
    annotation: serviceLocation('a shelf code, such as `top`', 'the shelf setting'),
  },
} as const satisfies SettingsTable

const toy = defineDialect({
  name: 'toy-cloud',
  title: 'Toy Cloud',
  providers: ['toycloud'],
  envPrefix: 'TOY_',
  predecessors: [],
  names: {
    marks: { usage: 'toy-auto', separator: '/' },
    announcerMarks: {
      label: { name: 'cloud-provider', value: 'toy' },
      advertisement: 'toy-bgp-adv',
      counting: 'nomatch.toy.example',
    },
    controlPlaneService: 'kube-system/toy-kubernetes-external',
  },
  rows,
  annotations: [],
  annotationPrefix: 'toy.example/',
})

/** The one value of the toy's folder. */
export const toyDialect = withProvider(toy, (settings) => ({
  client: {
    ...toyProject.cloud,
    name: 'Toy Cloud',
    locations: () => Promise.resolve([{ code: 'top', name: 'Top shelf', kind: 'shelf' }]),
    machines: () => Promise.resolve([]),
    machine: () => Promise.resolve(undefined),
  },
  providerIds: { scheme: 'toy', older: [], id: /^[a-z]+$/ },
  project: { id: settings.projectId, setting: 'TOY_PROJECT_ID' },
  policy: {
    locationSettings: [{ kind: 'setting', word: 'shelf', name: 'TOY_SHELF', value: settings.shelf }],
    locationAnnotations: [{ kind: 'annotation', word: 'shelf', name: settings.annotationShelf }],
  },
}))
