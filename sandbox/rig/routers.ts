import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startChild } from '../child.ts'
import { type Bird, findBird } from './bird.ts'
import { birdConfig } from './bird-config.ts'
import { queryBird, untilBirdAnswers } from './bird-control.ts'
import { type Change, type Route, parseChanges, parseNeighbours, parseRoutes } from './parse-bird-output.ts'
import { routersNetwork } from './network.ts'
import type { Provider } from './providers.ts'

/** The provider's routers, with which every machine peers. */
export type Routers = {
  /** Returns the routes that each router has learned. */
  routes: () => Promise<(Route & { router: string })[]>
  /** Returns which machine has an established session with which router. */
  sessions: () => Promise<{ router: string; machine: string }[]>
  /** Returns the routes learned and lost so far, oldest first. */
  changes: () => (Change & { router: string })[]
  stop: () => Promise<void>
}

export type RouterOptions = {
  dir: string
  provider: Provider
  /** The password of every session; the routers expect none when absent. */
  password?: string | undefined
  /** The interface behind which each machine is, where this namespace is the router; the rig has one of its own. */
  cables?: ReadonlyMap<string, string>
}

/** Starts one BIRD for each router of the provider, and waits until all answer. */
export async function startRouters(options: RouterOptions): Promise<Routers> {
  const bird = await findBird()
  mkdirSync(join(options.dir, 'logs'), { recursive: true })
  const routers = await Promise.all(options.provider.routers.map((address) => startRouter(address, bird, options)))
  return {
    routes: async () => (await Promise.all(routers.map(({ routes }) => routes()))).flat(),
    sessions: async () => (await Promise.all(routers.map(({ sessions }) => sessions()))).flat(),
    changes: () => routers.flatMap(({ changes }) => changes()).toSorted((one, other) => one.atMs - other.atMs),
    stop: async () => void (await Promise.all(routers.map(({ stop }) => stop()))),
  }
}

async function startRouter(router: string, bird: Bird, options: RouterOptions): Promise<Routers> {
  const { dir, provider, password, cables } = options
  const [config = '', socket = ''] = ['conf', 'ctl'].map((kind) => join(dir, `router-${router}.${kind}`))
  const log = join(dir, 'logs', `router-${router}.log`)
  writeFileSync(config, birdConfig({ address: router, provider, password, cables, log }), { mode: 0o600 })
  const command = [bird.program, '-f', '-c', config, '-s', socket]
  const child = startChild(cables ? command : ['ip', 'netns', 'exec', routersNetwork, ...command], {
    logFile: join(dir, 'logs', `bird-${router}.log`),
    env: { ...process.env, ...bird.env, TZ: 'UTC' },
  })
  await untilBirdAnswers(child, socket)
  return {
    routes: async () =>
      parseRoutes(await queryBird(socket, 'show route where source = RTS_BGP')).map((route) => ({ router, ...route })),
    sessions: async () =>
      parseNeighbours(await queryBird(socket, 'show protocols all')).map((machine) => ({ router, machine })),
    changes: () => parseChanges(readFileSync(log, 'utf8')).map((change) => ({ router, ...change })),
    stop: async () => void (await child.stop('SIGTERM', 2000)),
  }
}
