import { code, markdownTable } from '../markdown.ts'
import { catalogue } from '../../commands/doctor/catalogue.ts'
import { sections } from '../../commands/doctor/check.ts'
import type { FactName } from '../../inspect/facts.ts'

const opening = `# doctor

\`eip-admission doctor\` checks a live cluster and its provider. It changes nothing: it only reads, and uses a dry run to check
that the API server calls the webhooks.

\`\`\`sh no-run=is-a-test
eip-admission doctor
\`\`\`

With the rights of your kubeconfig, \`doctor\` reads the settings of \`serve\` from the Deployment, and from the Secrets and
ConfigMaps that it names. You can override them with flags of \`serve\`. If \`serve\` runs outside the cluster, set
\`--cloud-provider\`: \`doctor\` then reads only its own flags and environment. \`kubectl eip doctor\` does the same, and \`helm test\`
runs it in a pod with the rights of \`serve\`.

Each line ends with the id of its check, and begins with:

- \`ok\`: nothing is wrong
- \`warning\` or \`ERROR\`: what is wrong, why that matters, and the command that fixes it
- \`manual\`: \`doctor\` cannot see it, so \`run\` names the command that shows it
- \`unknown\`: a fact could not be read; the reason names the missing right

\`-o json\` prints the same for programs. With \`--allow-unknown\`, \`doctor\` exits with 0 if only facts are missing.

| exit code | meaning |
| --- | --- |
| 0 | no error; there may be warnings |
| 1 | errors were found, or the settings are wrong |
| 2 | no error was found, but something could not be checked |
`

const rightsOpening = `## What it reads

\`doctor\` needs the rights of the role \`cluster-admin\`, or these. Without one of them it still makes the other checks.
`

/** The right or connection with which each fact is read. */
const rights: Record<FactName, string> = {
  server: 'get /version',
  apiServerPods: 'list pods in kube-system',
  webhooks: 'get the two webhook configurations',
  probe: 'create configmaps in the namespace of eip-admission, which is only used for a dry run',
  servingCertificate: 'a connection to the webhooks',
  cluster: 'get namespace kube-system; get the ConfigMap eip-admission-ledger',
  services: 'list services',
  records: 'list elasticips',
  nodes: 'list nodes',
  workloads: 'list deployments, daemonsets, and pods in kube-system',
  leases: 'list leases in the namespace of the lease',
  events: 'list events',
  roles: 'get roles, clusterroles and their bindings',
  definitions: 'list customresourcedefinitions',
  elasticIPDefinition: 'get the ElasticIP CRD',
  metallb: 'list ipaddresspools, bgppeers, bgpadvertisements and configurationstates',
  announcer: 'list the objects of the announcing software that the setting chooses, but no Secret',
  ciliumConfigs: 'list the ConfigMap cilium-config in all namespaces, where the setting chooses Cilium',
  kubeProxyConfig: 'get the ConfigMap kube-proxy in kube-system, where the setting is assign:///',
  ciliumSessions: 'list ciliumbgpclusterconfigs',
  document: "get MetalLB's ConfigMap, where MetalLB reads one",
  announcements: 'list servicebgpstatuses',
  sessions: 'list bgpsessionstates',
  cloudReads: 'the token',
  cloudPace: 'the token',
  reservations: 'the token: addresses of the project',
  locations: 'the token',
  machines: 'the token: servers of the project',
  peers: 'the token: BGP of the servers',
  seenSessions: 'the token: BGP of the servers',
  assigned: 'the token: addresses of the project',
  controlPlane: 'the token: addresses of the project',
  mirror: 'get the mirror Service in kube-system',
}

/** The reference page of all checks, in Markdown, from the table by which the command runs them. */
export function doctorReference(): string {
  const parts = sections.map((section) => {
    const rows = catalogue
      .filter((check) => check.section === section)
      .map(({ id, checks, needs }) => [code(id), checks, needs.map(code).join(', ')])
    return `## ${section}\n\n${markdownTable(['check', 'what it checks', 'facts'], rows)}\n`
  })
  const facts = Object.entries(rights).map(([name, right]) => [code(name), right])
  return [opening, ...parts, `${rightsOpening}\n${markdownTable(['fact', 'read by'], facts)}\n`].join('\n')
}
