import type { Choices } from './choices.ts'
import { controlPlaneServices } from '../clouds/cloud-choice.ts'
import { splitKey } from '../kube/objects.ts'
import { names, webhookConfigurationNames } from '../settings/installed-names.ts'
import { imageOf, networkOf } from './pod.ts'

const api = 'rbac.authorization.k8s.io'
const metadata = { name: names.cleanup }

/**
 * Runs `cleanup` after everything else of the chart is deleted: otherwise our finalizer would block each Service's
 * deletion. By then the process has lost its rights, so it cannot restore a finalizer.
 */
export function cleanupJob(choices: Choices): object[] {
  const { namespace } = choices.release
  const subjects = [{ kind: 'ServiceAccount', name: names.cleanup, namespace }]
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { ...metadata, namespace, annotations: hook('-10') } },
    {
      apiVersion: `${api}/v1`,
      kind: 'ClusterRole',
      metadata: { ...metadata, annotations: hook('-10') },
      rules: cleanupRules,
    },
    {
      apiVersion: `${api}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { ...metadata, annotations: hook('-10') },
      roleRef: { apiGroup: api, kind: 'ClusterRole', name: names.cleanup },
      subjects,
    },
    job(choices),
  ]
}

/** The minimum of rights: webhook configurations and mirror Services by name, finalizers, and whether a takeover is recorded. */
export const cleanupRules = [
  {
    apiGroups: ['admissionregistration.k8s.io'],
    resources: ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'],
    resourceNames: webhookConfigurationNames,
    verbs: ['delete'],
  },
  { apiGroups: [''], resources: ['services'], verbs: ['list', 'patch'] },
  { apiGroups: [''], resources: ['services/status'], verbs: ['patch'] },
  {
    apiGroups: [''],
    resources: ['services'],
    resourceNames: controlPlaneServices.map((key) => splitKey(key).name),
    verbs: ['delete'],
  },
  { apiGroups: ['eip-admission.dev'], resources: ['elasticips'], verbs: ['list', 'patch'] },
  // Such a right to list covers only a list that selects this name.
  { apiGroups: [''], resources: ['configmaps'], resourceNames: [names.takeoverConfigMap], verbs: ['list'] },
]

function hook(weight: string): object {
  return {
    'helm.sh/hook': 'post-delete',
    'helm.sh/hook-weight': weight,
    'helm.sh/hook-delete-policy': 'before-hook-creation,hook-succeeded',
  }
}

/** The release's pods reached the API server there; the cluster IP may not work on their nodes. */
const apiServer = { value: 'settings.api-server' }

function job(choices: Choices): object {
  const { block, release, text, when } = choices
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { ...metadata, namespace: release.namespace, annotations: hook('0') },
    spec: {
      backoffLimit: 5,
      template: {
        metadata: { labels: { 'app.kubernetes.io/name': names.cleanup } },
        spec: {
          serviceAccountName: names.cleanup,
          restartPolicy: 'Never',
          imagePullSecrets: block('imagePullSecrets'),
          securityContext: block('podSecurityContext'),
          ...networkOf(choices),
          nodeSelector: block('nodeSelector'),
          containers: [
            {
              name: names.cleanup,
              ...imageOf(choices),
              args: ['cleanup', '--yes', when(apiServer, `--api-server=${text(apiServer.value)}`)],
              resources: block('resources'),
              securityContext: block('securityContext'),
            },
          ],
        },
      },
    },
  }
}
