import type { Choices } from './choices.ts'
import { controlPlaneServices } from '../clouds/cloud-choice.ts'
import { splitKey } from '../kube/objects.ts'
import { names, webhookConfigurationNames } from '../settings/installed-names.ts'
import { imageOf, networkOf } from './pod.ts'

const api = 'rbac.authorization.k8s.io'
const metadata = { name: names.cleanup }

/**
 * Runs `cleanup` when everything else of the chart is deleted. Without it a Service with our finalizer could not be
 * deleted any more. The process has lost its rights then, so it cannot add a finalizer again.
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
  // A list by only this name is a list of this one.
  { apiGroups: [''], resources: ['configmaps'], resourceNames: [names.takeoverConfigMap], verbs: ['list'] },
]

function hook(weight: string): object {
  return {
    'helm.sh/hook': 'post-delete',
    'helm.sh/hook-weight': weight,
    'helm.sh/hook-delete-policy': 'before-hook-creation,hook-succeeded',
  }
}

/** The pods of the release reached the API server there, and the cluster IP may not work where they ran. */
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
