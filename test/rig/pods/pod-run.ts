// A pod on a node of the rig: its volumes, its process, its probe and its status.
import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import type { KubeClient } from '../../../kube/client.ts'
import type { Child } from '../../../sandbox/child.ts'
import type { ControlPlane } from '../../../sandbox/control-plane/start.ts'
import { type Container, type Pod, pods } from './pod.ts'
import { startContainer } from './process.ts'
import { podVolumes } from './volumes.ts'

export type PodRun = ReturnType<typeof podRun>

type PodDeps = {
  controlPlane: ControlPlane
  client: KubeClient
  run: (args: string[], manifest?: object) => Promise<string>
  /** The address of the pod, which is its node's on the host network. */
  address: string
  /** The URL of the API server in the pod's environment. */
  apiServer: URL
}

/** Runs a pod that has a node. */
export function podRun({ controlPlane, client, run, address, apiServer }: PodDeps) {
  const { dir } = controlPlane
  let child: Child | undefined
  let name = ''
  let reported = ''
  let volumes: ReturnType<typeof podVolumes> | undefined
  let isStopping = false
  let isReady = false
  let failedProbes = 0
  const logFile = (pod: Pod) => join(dir, 'logs', `${pod.metadata.name}.log`)

  const report = async (pod: Pod, phase: string, answers: boolean) => {
    isReady = answers
    if (reported === `${phase} ${answers}`) return
    const status = answers ? 'True' : 'False'
    const conditions = ['Initialized', 'ContainersReady', 'Ready', 'PodScheduled'].map((type) => ({ type, status }))
    const { namespace } = pod.metadata
    const merge = { status: { phase, podIP: address, podIPs: [{ ip: address }], hostIP: address, conditions } }
    await client.patch(pods, { namespace, name, patch: { merge } }, { subresource: 'status' })
    reported = `${phase} ${answers}`
  }

  /** A pod that was ready stays so until several probes in a row have failed. */
  const probe = async ({ spec: { containers } }: Pod): Promise<boolean> => {
    const [container] = containers
    failedProbes = (await answersProbe(container, address)) ? 0 : failedProbes + 1
    const { failureThreshold = 3 } = container?.readinessProbe ?? {}
    return failedProbes === 0 || (isReady && failedProbes < failureThreshold)
  }

  const start = async (pod: Pod) => {
    const { namespace = '' } = pod.metadata
    const { serviceAccountName } = pod.spec
    volumes ??= podVolumes(client, pod, join(dir, 'pods', name))
    await volumes.update()
    const token = (await run(['create', 'token', serviceAccountName, '-n', namespace])).trim()
    const pem = readFileSync(join(dir, 'certs', 'apiserver.crt'), 'utf8')
    const credentials = { token, authority: pem.slice(pem.lastIndexOf('-----BEGIN CERTIFICATE-----')) }
    const accountFolder = join(dir, 'pods', name, 'account')
    const launch = { pod, address, folders: volumes.folders, accountFolder, credentials }
    child = await startContainer({ ...launch, apiServer, logFile: logFile(pod) })
    await report(pod, 'Running', false)
  }

  const stopAndRemove = async (pod: Pod) => {
    if (isStopping) return
    await report(pod, 'Running', false)
    isStopping = true
    const removal = ['delete', 'pod', name, '-n', pod.metadata.namespace ?? '', '--force', '--grace-period=0']
    // The next round tries again, unless the cluster has ended by then.
    void end()
      .then(() => run([...removal, '--wait=false']))
      .catch(() => void (isStopping = false))
  }

  const end = async (signal: NodeJS.Signals = 'SIGTERM') => void (await child?.stop(signal, 60_000))

  return {
    logFile,
    end,
    /** Kills the process, as a crash does; a pod with restartPolicy Always starts again. */
    kill: async () => void (await child?.stop('SIGKILL')),
    async sync(pod: Pod) {
      name = pod.metadata.name
      if (pod.metadata.deletionTimestamp) return stopAndRemove(pod)
      if (['Succeeded', 'Failed'].includes(pod.status?.phase ?? '')) return
      if (!child) return start(pod)
      await volumes?.update()
      if (child.isRunning()) return report(pod, 'Running', await probe(pod))
      if (pod.spec.restartPolicy === 'Always') return start(pod)
      await report(pod, (await child.exited) === 0 ? 'Succeeded' : 'Failed', false)
    },
  }
}

/** Whether the readiness probe succeeds now; a container without one is ready. */
async function answersProbe(container: Container | undefined, address: string): Promise<boolean> {
  if (!container?.readinessProbe) return true
  const { httpGet, timeoutSeconds = 1 } = container.readinessProbe
  const port = container.ports?.find(({ name }) => name === httpGet.port)?.containerPort
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const call = request(
    `https://${address}:${port}${httpGet.path}`,
    { rejectUnauthorized: false, timeout: timeoutSeconds * 1_000 },
    (answer) => {
      answer.resume()
      resolve(answer.statusCode === 200)
    },
  )
  call.on('timeout', () => call.destroy())
  call.on('error', () => resolve(false))
  call.end()
  return promise
}
