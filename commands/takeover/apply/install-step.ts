import type { KubeClient } from '../../../kube/client.ts'
import { mutatingWebhookConfigurations, validatingWebhookConfigurations } from '../../../kube/resource.ts'
import { elasticIPDefinition } from '../../../manifests/elastic-ip-crd.ts'
import { names } from '../../../settings/installed-names.ts'
import { customResourceDefinitions } from '../../../manifests/resources.ts'
import type { Step } from '../steps.ts'

/** Applies what `install` applies, unless the cluster has it: its last object is a webhook configuration. */
export function installStep(client: KubeClient, install: () => Promise<void>): Step {
  return {
    name: 'install',
    title: 'Install what eip-admission needs in the cluster',
    async missing() {
      const [definition, mutating, validating] = await Promise.all([
        client.get(customResourceDefinitions, { name: elasticIPDefinition.metadata.name }),
        client.get(mutatingWebhookConfigurations, { name: names.mutatingConfiguration }),
        client.get(validatingWebhookConfigurations, { name: names.validatingConfiguration }),
      ])
      const absent = [
        ...(definition ? [] : ['the definition of ElasticIP']),
        ...(mutating && validating ? [] : ['the webhook configurations']),
      ]
      return absent.length === 0 ? undefined : { text: `installing ${absent.join(' and ')}` }
    },
    act: install,
  }
}
