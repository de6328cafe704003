import { repository } from '../../settings/installed-names.ts'
import { valueRows } from './chart-values.ts'
import type { ValueRow } from './value-row.ts'

/** The package is read without the rest of the repository, so its links are whole. */
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
\`image.tag\`. One release for each cluster: the names of its objects are fixed. [How to install, upgrade and
uninstall](${docs}/guides/install.md) has the rest.

## Values

\`settings\` takes every flag of \`eip-admission serve\` ([all settings](${docs}/reference/settings.md)). Helm refuses
names that the chosen cloud does not have.
`

/** The README of the chart, with a table of its values. */
export function chartReadme(): string {
  const head = ['| value | default | meaning |', '| --- | --- | --- |']
  return `${opening}\n${[...head, ...valueRows.map(line)].join('\n')}\n`
}

function line({ path, default: value, sentence }: ValueRow): string {
  const text = JSON.stringify(value)
  const shown = text.length > 60 ? 'see values.yaml' : `\`${text}\``
  return `| \`${path}\` | ${shown} | ${sentence.replaceAll('|', '\\|')} |`
}
