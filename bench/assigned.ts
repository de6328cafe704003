// What clients notice when a node dies to which the cloud assigns addresses, and what assigning costs while all is well.
// bench/run.ts runs this in namespaces, with a real kube-proxy on each node, and a cloud that is Hetzner Cloud's.
import { setTimeout as sleep } from 'node:timers/promises'
import { endpointSlices, events, nodes, services } from '../kube/resource.ts'
import { type Account, type Stage } from '../sandbox/stage.ts'
import { type AssignedRig, podPort, setAssignedRig } from '../sandbox/rig/assigned/rig.ts'
import type { Row } from './measure.ts'
import { type Admin, loadBalancer, onStage, swept, until } from './stage.ts'
