import { type ControllerDeclaration, defineController, runAll, controllerObserver } from './loop/controller.ts'
import { announcingController, makeAnnouncing } from './announcing/declaration.ts'
import { type ServiceAssigning, serviceAssigning } from './assigning/declaration.ts'
import { availableAddressController } from './available/declaration.ts'
import { balancerControllers } from './balancers/declaration.ts'
import { manifestController } from './manifest/manifest.ts'
import {
  machineRefreshController,
  nodeIdentityController,
  nodeLifecycleController,
  machineRefresh,
} from './nodes/declaration.ts'
import { leftMirrorController } from './control-plane/mirror-declaration.ts'
import { peeringControllers } from './peering/declaration.ts'
import { prefixLimitController } from './peering/prefix-limit.ts'
import { serviceControllers } from './services/declaration.ts'
import { ledgerSweepController, lostRecordController } from './sweep/declaration.ts'
import { warmPoolController } from './available/warm-pool.ts'
import { type ReplacedProgram, runningPredecessorController } from './predecessors/running-predecessor.ts'
import type { NodeController } from '../settings/nodes.ts'
import type { Dependencies } from './dependencies.ts'

export type Controllers = ReturnType<typeof makeControllers>

/**
 * A new leader lists again. The one before it may have announced an address that a silent watch did not tell us, and we
 * withdraw addresses that no cache has. A process that leads as soon as it starts has just listed.
 */
const recentListMs = 2_000

type Options = {
  isLeader: () => boolean
  /** The time limit for a write to the provider that must end while this process leads. */
  writeMs: () => number
  replacedProgram: ReplacedProgram
}

/** Every controller of the process; they act only while they run. */
export function makeControllers(deps: Dependencies, options: Options) {
  const { log, metrics, activity } = deps
  const observer = controllerObserver(metrics, activity)
  const assigning = serviceAssigning(deps, options.writeMs)
  const controllers = declarations(deps, { ...options, assigning }).map((declaration) =>
    defineController(declaration, { log, observer }),
  )
  metrics.readEach('workqueue_depth', () =>
    controllers.map((controller) => ({ labels: { name: controller.name }, value: controller.queueLength })),
  )
  return {
    /** Does what a replica must do before it leads, so that it can take over at once. Ends with the signal. */
    standBy: (signal: AbortSignal) => assigning?.standBy(signal),
    /** Runs every controller until the signal aborts and all has ended that only the leader may do. */
    run(signal: AbortSignal) {
      for (const cache of Object.values(deps.caches)) cache.refresh(recentListMs)
      return runAll(controllers, signal)
    },
    /** The keys that wait, by controller. */
    queues: () => controllers.map((controller) => ({ name: controller.name, length: controller.queueLength })),
  }
}

type Parts = Options & { assigning: ServiceAssigning | undefined }

function declarations(deps: Dependencies, { assigning, ...options }: Parts): ControllerDeclaration[] {
  const { writeMs } = options
  const { caches, machines } = deps
  const announcing = makeAnnouncing(deps)
  const isLeft = (one: NodeController) => deps.settings.process.leftControllers.includes(one)
  const refresh = machineRefresh({ machines, hasNodes: () => caches.nodes.list().length > 0 })
  return [
    ...serviceControllers(deps, { announcing, assigning, writeMs }),
    ...balancerControllers(deps),
    ledgerSweepController(deps),
    lostRecordController(deps),
    availableAddressController(deps),
    warmPoolController(deps),
    ...(isLeft('cloud-node') ? [] : [nodeIdentityController(deps, refresh)]),
    machineRefreshController(deps, refresh),
    ...(isLeft('cloud-node-lifecycle') ? [] : [nodeLifecycleController(deps)]),
    // Before announcing, which waits for the facts that each start resets here.
    ...peeringControllers(deps),
    ...prefixLimitController(deps),
    ...manifestController(deps),
    ...leftMirrorController(deps),
    runningPredecessorController(deps, options),
    ...(announcing ? [announcingController(deps, announcing)] : []),
    ...(assigning ? [assigning.declaration] : []),
  ]
}
