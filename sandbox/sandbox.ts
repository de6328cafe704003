// Starts etcd, kube-apiserver, kube-controller-manager, a simulated cloud and eip-admission on this machine, prints
// commands to try, and runs until Ctrl-C. Call it as `make sandbox`, or `make sandbox CLOUD=cherry-servers`.
import { once } from 'node:events'
import { styleText } from 'node:util'
import { type DialectExamples, dialectExamples } from './dialect-examples.ts'
import { type DialectName, dialects } from './dialects.ts'
import { runSandbox } from './run-sandbox.ts'
import type { Stage } from './stage.ts'

const bold = (text: string) => styleText('bold', text)

await runSandbox(async ({ stage, dir, programs }, interrupted) => {
  const examples = dialectExamples[stage.dialect]
  const mistake = Object.entries(examples.mistake.annotations).at(-1)?.join('=')
  const { controlUrl, url } = stage.cloud
  console.log(`
${bold('1. Open another terminal and select this cluster:')}

  export KUBECONFIG=${stage.controlPlane.kubeconfig}
  export PATH=${programs}:$PATH

${bold('2. Create a Service. kubectl prints its address:')}

  kubectl create service loadbalancer web --tcp=80:80 -o jsonpath='{.spec.loadBalancerIP}{"\\n"}'

${bold('3. See which Service holds which address:')}

  kubectl get eip

${bold('4. Make a mistake in an annotation, and read what eip-admission answers:')}

  kubectl annotate service web ${mistake}

${bold('5. Delete the Service. Its reservation at the provider is deleted too:')}

  kubectl delete service web

${bold('6. Let it check the cluster and the provider:')}

  ${doctorCommand(stage)}

${bold('The simulated cloud')} serves ${url}. Control it with curl:
  curl ${controlUrl}                                  # list what you can change
  curl -X PUT ${controlUrl}/latency -d '{"ms":2000}'  # make the provider slow
${clientText(stage, examples)}${bold('The logs')} are in ${dir}/logs

Press Ctrl-C to stop everything and to remove its files.`)
  if (!interrupted.aborted) await once(interrupted, 'abort')
})

/** `doctor` with the settings that the process has here. */
function doctorCommand({ cloud: { url }, project, token, dialect }: Stage<DialectName>): string {
  const { env, provider } = dialects[dialect]
  const variables = Object.entries(env({ url, project, token })).map(([name, value]) => `${name}=${value}`)
  return [...variables, `./bin/eip-admission doctor --cloud-provider=${provider} --base-url=${url}`].join(' ')
}

/** How the vendor's own command line reaches the simulated cloud. */
function clientText({ cloud, project, token }: Stage<DialectName>, { client }: DialectExamples): string {
  if (!client) return ''
  const pairs = Object.entries(client.env({ url: cloud.url, project, token }))
  const lines = pairs.map(([name, value]) => `  export ${name}=${value}\n`)
  return `${bold(`The vendor's own ${client.program}`)} uses it with\n${lines.join('')}`
}
