// A cluster and a cloud on this machine, to try things in; it stays up until Ctrl-C.
import { once } from 'node:events'
import { styleText } from 'node:util'
import { runSandbox } from './run-sandbox.ts'
import { dialectExamples } from './dialect-examples.ts'

const strong = (text: string) => styleText('bold', text)

await runSandbox(async ({ stage, dir, programs }, interrupted) => {
  const typo = Object.entries(dialectExamples[stage.dialect].mistake.annotations).at(-1)?.join('=')
  console.log(`
${strong('In another terminal:')}

  export KUBECONFIG=${stage.controlPlane.kubeconfig}
  export PATH=${programs}:$PATH

  kubectl create service loadbalancer web --tcp=80:80 -o jsonpath='{.spec.loadBalancerIP}{"\\n"}'
  kubectl get eip
  kubectl annotate service web ${typo}

${strong('The simulated cloud:')} ${stage.cloud.url}
  curl ${stage.cloud.controlUrl}                                      what its control door can do
  curl -X PUT ${stage.cloud.controlUrl}/latency -d '{"ms":2000}'      a slow cloud
${strong('Logs:')} ${dir}/logs

Ctrl-C stops and removes everything.`)
  if (!interrupted.aborted) await once(interrupted, 'abort')
})
