import type { DocumentConfiguration, ObjectConfiguration, Problem } from '../../announcers/announcer.ts'
import {
  announcedAddresses,
  factsOf,
  foreignStatuses,
  leavingAddresses,
  livingAddresses,
  mentionsAddress,
  undecidedAddresses,
  visibleAddresses,
  serviceStates,
} from './announced.ts'
import { type Announcing, announcing, announcingKey } from './announcing.ts'
import { type Configurator, type FormerConfigurator, nothingDone } from './configurator.ts'
import { configureDocument, configureEither } from './configure-either.ts'
import { configureObjects } from './configure-objects.ts'
import { emptyFormer, formerDocument, formerObjects } from './empty-former.ts'
import type { ControllerDeclaration } from '../loop/controller.ts'
import { type LingeringNodes, lingeringNodes } from './lingering-nodes.ts'
import { forwardedKeys, watch } from '../loop/watch.ts'
import type { Dependencies } from '../dependencies.ts'

type Deps = Pick<Dependencies, 'announcer' | 'client' | 'caches' | 'want' | 'peerFacts' | 'events' | 'metrics' | 'log'>

/** Keeps the announcing software's configuration at the current addresses and peers; undefined if we configure none. */
export function makeAnnouncing(deps: Deps): Announcing | undefined {
  const { announcer, peerFacts, caches } = deps
  const due = forwardedKeys()
  const { configuration } = announcer
  const lingering =
    configuration?.kind === 'objects' && configuration.lingering ? lingeringNodes(configuration.lingering) : undefined
  const configurator = configuratorOf(deps, { lingering, request: () => due.add(announcingKey) })
  const showing = (address: string) =>
    announcedAddresses(serviceStates(deps, (service) => mentionsAddress(service, address)))
      .filter((announced) => announced.address === address)
      .flatMap(({ services }) => services)
  if (!configurator) return undefined
  return {
    ...announcing({
      configurator,
      lingering,
      report: problemReporter(deps),
      showing,
      state() {
        const states = serviceStates(deps)
        return {
          addresses: announcedAddresses(states),
          undecided: announcer.keepsFormer ? livingAddresses(states) : undecidedAddresses(states),
          leaving: leavingAddresses(states),
          visible: visibleAddresses(states),
          hasNode: (name) => caches.nodes.get(name) !== undefined,
          foreign: foreignStatuses(states),
          // Read on demand, because few announcers need them.
          facts: { get: (key) => factsOf(caches.services.get(key)) },
          nodes: peerFacts.all().map((fact) => {
            const { annotations, labels } = caches.nodes.get(fact.node)?.metadata ?? {}
            return { ...fact, ...(annotations && { annotations }), ...(labels && { labels }) }
          }),
        }
      },
    }),
    watch: due.watch,
  }
}

/** Each reconcile reads every Service, and a create changes a Service and its record five times. */
const gatherMs = 100

/** Configures the announcing software. */
export function announcingController(
  { caches, peerFacts, ownAddresses }: Pick<Dependencies, 'caches' | 'peerFacts' | 'ownAddresses'>,
  reconciler: Announcing,
): ControllerDeclaration {
  const { services, records, nodes } = caches
  return {
    reconciler,
    watches: [
      ...[services, records].map((cache) => watch(cache, () => [announcingKey], gatherMs)),
      ...[peerFacts, ownAddresses].map((source) => watch(source, () => [announcingKey])),
      ...(reconciler.watch ? [reconciler.watch] : []),
    ],
    prepare: async () => reconciler.begin(),
    needs: [services, records, nodes, peerFacts],
    keys: () => [announcingKey],
    // Repairs changes that others make to our configuration.
    resyncMs: 60_000,
    // MetalLB may be installed long after us, and the person who installs it waits at a terminal.
    retry: { firstMs: 250, maxMs: 15_000 },
  }
}

function configuratorOf(
  { client, announcer, log }: Deps,
  { lingering, request }: { lingering: LingeringNodes | undefined; request: () => void },
): Configurator | undefined {
  const { configuration, former = [], keepsFormer } = announcer
  const make = (one: ObjectConfiguration | DocumentConfiguration) =>
    one.kind === 'objects'
      ? configureObjects({ client, configuration: one, lingering, deleted: { notify: request, client, log } })
      : configureDocument({ client, configuration: one })
  const thenEmpty = (current: ObjectConfiguration | DocumentConfiguration | undefined) => {
    if (former.length === 0) return current && make(current)
    const left = former.flatMap((one) => {
      const objects = formerObjects({ client, former: one, current: current?.kind === 'objects' ? current : undefined })
      if (!one.document || current?.kind === 'document') return [objects]
      return [objects, formerDocument({ document: make(one.document), log })]
    })
    return keepsFormer
      ? keepFormer({ former: left, request })
      : emptyFormer({ current: current && make(current), former: left })
  }
  if (configuration?.kind !== 'either') return thenEmpty(configuration)
  const objects = thenEmpty(configuration.objects)
  const document = thenEmpty(configuration.document)
  return objects && document && configureEither({ client, log, configuration, objects, document })
}

/** Reports a problem on the object that causes it, where its owner sees it. */
export function problemReporter(deps: Omit<Deps, 'client' | 'want' | 'peerFacts'>): (problem: Problem) => void {
  const { announcer, events, caches, metrics, log } = deps
  return ({ subject, message }) => {
    metrics.add('eip_admission_announcer_problems_total', {})
    log.warn({ ...subject, announcer: announcer.name, error: message }, 'not announced')
    const [object, reason] =
      'service' in subject
        ? [caches.services.get(subject.service), 'SyncLoadBalancerFailed' as const]
        : [caches.nodes.get(subject.node), 'PeeringFailed' as const]
    if (!object) return
    const event = { type: 'Warning', reason, message: `${announcer.name}: ${message}` } as const
    events.of('service-controller').record(object, event)
  }
}

/**
 * Leaves other software as we configured it while load balancing is off. Only if a release waits for an address, that
 * address is removed, with those that no Service shows. Otherwise nothing is written, because a predecessor may be
 * active.
 */
export function keepFormer(of: { former: FormerConfigurator[]; request: () => void }): Configurator {
  const { former, request } = of
  const asked = new Set<FormerConfigurator>()
  return {
    async carryOut(state, signal) {
      let isChanged = false
      // A waiting caller asks again, even after a failure.
      const due = [...asked]
      asked.clear()
      for (const one of due) isChanged = (await one.withdraw(state, signal)) || isChanged
      return { ...nothingDone, isChanged }
    },
    async announces(address, signal) {
      for (const one of former) {
        if (!(await one.announces(address, signal))) continue
        asked.add(one)
        request()
        return true
      }
      return false
    },
  }
}
