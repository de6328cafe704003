import { certificatesIn, fromCaBundle } from '../../../certs/bundle.ts'
import { noOtherClass } from '../../../manifests/webhook-configurations.ts'
import { elasticIPDefinition } from '../../../manifests/elastic-ip-crd.ts'
import type { WebhookConfiguration } from '../../../kube/objects.ts'
import type { Definition, Schema } from '../../../kube/definitions.ts'
import { webhookIdentities } from '../../../webhooks/webhook.ts'
import { configurationProblem } from '../../../webhooks/webhook-probe.ts'
import { type Finding, type Findings, defineCheck } from '../check.ts'
import type { Context, Values } from '../../../inspect/facts.ts'
import { installRemedy } from '../install-remedy.ts'
import { type Command, shell } from '../../../lib/remedy.ts'
import { names } from '../../../settings/installed-names.ts'

function logs({ settings }: Context): Command {
  return shell`kubectl logs -n ${settings.process.namespace} -l app.kubernetes.io/name=eip-admission   # or the log of \`serve\``
}
const later = 'Services are created without an address, and get it only later'

export const webhookConfigurations = defineCheck({
  id: 'webhook-configurations',
  section: 'Webhooks',
  checks: 'Both webhook configurations exist, have every webhook, and call all of them at the same place.',
  good: 'both webhook configurations are complete',
  needs: ['webhooks'],
  judge({ webhooks }, context) {
    const what = configurationProblem(webhooks, webhookIdentities)
    return what === undefined ? [] : [{ level: 'error', what, why: later, fix: installRemedy(webhooks, context) }]
  },
})

export const reviewedClasses = defineCheck({
  id: 'reviewed-classes',
  section: 'Webhooks',
  checks: 'The webhooks review Services of the classes in `--load-balancer-class` of `serve`.',
  good: 'the webhooks review the Services that eip-admission serves',
  needs: ['webhooks'],
  judge({ webhooks }, context) {
    const { loadBalancerClasses: classes } = context.settings.cluster
    const wanted = noOtherClass(classes.join(','))
    const entries = [webhooks.mutating, webhooks.validating].flatMap((found) => found?.webhooks ?? [])
    const wrong = entries.filter(({ matchConditions = [] }) =>
      matchConditions.some(({ name, expression }) => name === wanted.name && expression !== wanted.expression),
    )
    if (wrong.length === 0) return []
    const names = wrong.map(({ name }) => name).join(', ')
    const what = `${names}: the condition ${wanted.name} is not the one of this version for --load-balancer-class=${classes.join(',')}`
    return { level: 'error', what, why: later, fix: installRemedy(webhooks, context) }
  },
})

export const webhooksReached = defineCheck({
  id: 'webhooks-reached',
  section: 'Webhooks',
  checks: 'The API server calls the webhooks and uses their answers. A dry run tests it, so nothing is stored.',
  good: 'the API server calls the webhooks and uses their answers',
  needs: ['probe', 'webhooks'],
  judge({ probe, webhooks }, context) {
    if (probe.outcome === 'answered') return []
    const what = probe.reason
    const isTrust = /x509|certificate|tls/i.test(what)
    return {
      level: 'error',
      what,
      why: later,
      fix: isTrust ? logs(context) : installAndLook(webhooks, context),
    }
  },
})

function installAndLook(webhooks: Values['webhooks'], context: Context): Command {
  const { command, text } = installRemedy(webhooks, context)
  const look = `and check whether \`serve\` runs: \`${logs(context).command}\``
  return { command, text: text === undefined ? look : `${text}; ${look}` }
}

const dayMs = 86_400_000

export const caBundle = defineCheck({
  id: 'ca-bundle',
  section: 'Webhooks',
  checks: 'Each webhook has a caBundle with a CA that is valid for more than a week.',
  good: 'every caBundle has a CA that is valid for more than a week',
  needs: ['webhooks'],
  judge: ({ webhooks: { mutating, validating } }, context) =>
    [mutating, validating].flatMap((found) => (found ? bundleFindings(found, context) : [])),
})

function bundleFindings({ kind, metadata, webhooks = [] }: WebhookConfiguration, context: Context): Findings {
  const { now } = context
  const fix = logs(context)
  const where = `${kind} ${metadata.name}`
  const byBundle = Map.groupBy(webhooks, ({ clientConfig }) => fromCaBundle(clientConfig.caBundle))
  return [...byBundle].flatMap(([bundle, of]): Findings => {
    const names = of.map(({ name }) => name).join(', ')
    const why = 'the API server cannot trust the webhooks without a valid CA'
    const ends = certificatesIn(bundle).map(({ validToDate }) => validToDate.getTime())
    if (ends.length === 0)
      return { level: 'error', what: `${where}: ${names}: the caBundle has no certificate`, why, fix }
    const lastMs = Math.max(...ends)
    if (lastMs > now.getTime() + 7 * dayMs) return []
    const isOver = lastMs <= now.getTime()
    const what = `${where}: ${names}: the caBundle ${isOver ? 'expired' : 'expires'} at ${new Date(lastMs).toISOString()}`
    return { level: isOver ? 'error' : 'warning', what, why, fix }
  })
}

export const elasticIPFields = defineCheck({
  id: 'elastic-ip-definition',
  section: 'Webhooks',
  checks: 'The ElasticIP CRD has every field that this version writes.',
  good: 'the ElasticIP CRD has every field',
  needs: ['elasticIPDefinition', 'webhooks'],
  judge({ elasticIPDefinition: found, webhooks }, context) {
    const wanted = fieldsOf(elasticIPDefinition)
    const has = new Set(found ? fieldsOf(found) : [])
    const lacking = wanted.filter((field) => !has.has(field))
    if (lacking.length === 0) return []
    const { name } = elasticIPDefinition.metadata
    const what = found
      ? `CustomResourceDefinition ${name} lacks ${lacking.slice(0, 5).join(', ')}${lacking.length > 5 ? ', ...' : ''}`
      : `there is no CustomResourceDefinition ${name}`
    const why = 'the API server drops what the ledger writes there: an address may be lost'
    return { level: 'error', what, why, fix: installRemedy(webhooks, context) }
  },
})

/** The paths of all fields in the versions of a CRD. */
function fieldsOf(definition: object): string[] {
  const within = (schema: Schema | undefined, path: string): string[] =>
    Object.entries(schema?.items?.properties ?? schema?.properties ?? {}).flatMap(([field, of]) => [
      `${path}${field}`,
      ...within(of, `${path}${field}.`),
    ])
  const { spec } = definition as Definition
  return (spec?.versions ?? []).flatMap(({ schema }) => within(schema?.openAPIV3Schema, ''))
}

export const servingCertificate = defineCheck({
  id: 'serving-certificate',
  section: 'Webhooks',
  checks: 'The certificate that the webhooks serve is valid for more than a day, if this machine can reach them.',
  good: 'the certificate of the webhooks does not expire soon',
  needs: ['servingCertificate'],
  judge({ servingCertificate: seen }, context) {
    const { now } = context
    if (!seen) return unseenCertificate(context)
    if (seen.endsAt.getTime() > now.getTime() + dayMs) return []
    const isOver = seen.endsAt <= now
    return {
      level: isOver ? 'error' : 'warning',
      what: `the certificate at ${seen.place} ${isOver ? 'expired' : 'expires'} at ${seen.endsAt.toISOString()}`,
      why: 'it should have been renewed at a third of its life; the API server refuses an expired one',
      fix: logs(context),
    }
  },
})

/** Reports an unseen certificate: outside the cluster, the Service of the webhooks cannot be reached. */
function unseenCertificate({ settings: { process } }: Context): Finding {
  return {
    level: 'manual',
    what: 'this machine cannot reach the webhooks, so doctor cannot see when their certificate expires',
    why: 'the API server refuses an expired one',
    fix: shell`kubectl get --raw /api/v1/namespaces/${process.namespace}/services/https:${names.metricsService}:metrics/proxy/metrics   # eip_admission_cert_not_after_timestamp_seconds is in the future`,
  }
}
