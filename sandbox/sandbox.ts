// Starts etcd, kube-apiserver, kube-controller-manager, a simulated cloud and eip-admission on this machine, prints
// commands to try, and runs until Ctrl-C. Call it as `make sandbox`, or `make sandbox CLOUD=cherry-servers`.
import { once } from 'node:events'
import { styleText } from 'node:util'
import { type DialectExamples, dialectExamples } from './dialect-examples.ts'
import { type DialectName, dialects } from './dialects.ts'
import { shellWord } from '../lib/text.ts'
import { runSandbox, sandboxNodes, sayReady } from './run-sandbox.ts'
import type { Stage } from './stage.ts'

const bold = (text: string) => styleText('bold', text)

await runSandbox(async ({ stage, install, dir, programs }, interrupted) => {
  const examples = dialectExamples[stage.dialect]
  const mistake = Object.entries(examples.mistake.annotations).at(-1)?.join('=')
  const { controlUrl, url } = stage.cloud
  const steps = [
    {
      title: 'Open another terminal and select this cluster',
      commands: `export KUBECONFIG=${stage.controlPlane.kubeconfig}\n  export PATH=${programs}:$PATH`,
    },
    {
      title: 'Create a Service. kubectl prints its address',
      commands: `kubectl create service loadbalancer web --tcp=80:80 -o jsonpath='{.spec.loadBalancerIP}{"\\n"}'`,
    },
    { title: 'See which Service holds which address', commands: 'kubectl get eip' },
    ...(examples.assigned ? moveSteps() : []),
    {
      title: 'Make a mistake in an annotation, and read what eip-admission answers',
      commands: `kubectl annotate service web ${mistake}`,
    },
    {
      title: 'Delete the Service. Its reservation at the provider is deleted too',
      commands: 'kubectl delete service web',
    },
    {
      title: 'Let it check the cluster and the provider',
      commands: install === 'helm' ? './bin/eip-admission doctor' : doctorCommand(stage),
    },
  ]
  const list = steps.map(({ title, commands }, n) => `${bold(`${n + 1}. ${title}:`)}\n\n  ${commands}\n`)
  console.log(`
${list.join('\n')}
${bold('The simulated cloud')} serves ${url}. Control it with curl:
  curl ${controlUrl}                                  # list what you can change
  curl -X PUT ${controlUrl}/latency -d '{"ms":2000}'  # make the provider slow
${clientText(stage, examples)}${bold('The logs')} are in ${dir}/logs

Press Ctrl-C to stop everything and to remove its files.`)
  if (!interrupted.aborted) await once(interrupted, 'abort')
})

/** Where the provider routes each address to one machine. No kubelet runs here, so kubectl says that a node is silent. */
function moveSteps() {
  return [
    {
      title: `See on which of the nodes ${sandboxNodes.join(' and ')} the address is`,
      commands: 'kubectl get events --field-selector reason=AddressAssigned',
    },
    {
      title: `Let that node fail, such as ${sandboxNodes[0]}. The address moves, and the Service keeps it`,
      commands: `kubectl ${sayReady(sandboxNodes[0], 'Unknown')
        .map((word) => (word.startsWith('{') ? `'${word}'` : word))
        .join(' ')}\n  kubectl get events --field-selector reason=AddressAssigned`,
    },
  ]
}

/** `doctor` with the settings that the process has here. If the chart is installed, it finds them itself. */
function doctorCommand({ cloud: { url }, project, token, dialect }: Stage<DialectName>): string {
  const { env, provider } = dialects[dialect]
  const variables = Object.entries({ ...env({ url, project, token }), ...dialectExamples[dialect].assigned }).map(
    ([name, value]) => `${name}=${shellWord(value)}`,
  )
  return [...variables, `./bin/eip-admission doctor --cloud-provider=${provider} --base-url=${url}`].join(' ')
}

/** How the vendor's own command line reaches the simulated cloud. */
function clientText({ cloud, project, token }: Stage<DialectName>, { client }: DialectExamples): string {
  if (!client) return ''
  const pairs = Object.entries(client.env({ url: cloud.url, project, token }))
  const lines = pairs.map(([name, value]) => `  export ${name}=${value}\n`)
  return `${bold(`The vendor's own ${client.program}`)} uses it with\n${lines.join('')}`
}
