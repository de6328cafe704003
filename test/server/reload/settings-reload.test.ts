// Time is a fake clock's and the cloud is scripted: what is tested is what the reload decides.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { CloudError, type Location } from '../../../clouds/ports/cloud.ts'
import { Secret, ReplaceableSecret } from '../../../lib/secret.ts'
import type { LocationSource } from '../../../settings/service-policy.ts'
import { type SettingsReload, settingsReload } from '../../../server/reload/settings-reload.ts'
import { equinixMetal } from '../../../clouds/equinix-metal/settings.ts'
import { SettingsError } from '../../../settings/problems.ts'
import { fakeClock } from '../../kube/fake-clock.ts'
import { silentLog } from '../../fakes/log.ts'
import { eventRecorder } from '../../../kube/events.ts'
import type { KubeEvent } from '../../../kube/objects.ts'
import { type LogLine, recordedLog } from '../../kube/recorded-log.ts'
import { settingsOf } from './cloud-settings.ts'

const first = { apiKey: 'first-token', projectID: 'p', metro: 'da' }
const locations: Location[] = ['da', 'ny'].map((code) => ({ code, name: code, kind: 'metro' }))

type Scene = {
  reload: SettingsReload
  /** Writes the file: fields, or what is wrong with it. */
  write: (fields: Record<string, string> | SettingsError) => void
  /** How the cloud answers a token. */
  cloud: { answer: (token: string) => void }
  trials: string[]
  token: () => string
  metro: () => string | undefined
  lines: LogLine[]
  /** The writes of Events, as `<type> <reason>: <message>`. */
  events: string[]
  pass: (ms?: number) => Promise<void>
}

const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'eip-admission', name: 'eip-admission-1', uid: 'u1' },
}

const sourcesOf = (metro: string | undefined): LocationSource[] => [
  { kind: 'setting', word: 'metro', name: 'METAL_METRO_NAME', value: metro },
  { kind: 'annotation', word: 'metro', name: 'metal.equinix.com/eip-metro' },
]

async function play(scene: (scene: Scene) => Promise<void>): Promise<void> {
  let file: Record<string, string> | SettingsError = first
  const clock = fakeClock()
  const log = recordedLog()
  const apiKey = new ReplaceableSecret(new Secret('first-token'))
  const policy = { locationSources: sourcesOf('da') }
  const cloud: Scene['cloud'] = { answer: () => {} }
  const trials: string[] = []
  const events: string[] = []
  const texts = new Map<string, string>()
  const recorder = eventRecorder({
    client: {
      async create(_resource, event) {
        const { involvedObject, metadata, type, reason, message } = event as unknown as KubeEvent
        assert.is(involvedObject.uid, pod.metadata.uid)
        const text = `${type} ${reason}: ${message}`
        texts.set(metadata.name, text)
        events.push(text)
        return event
      },
      patch: (_resource, { name }) => Promise.resolve(void events.push(texts.get(name) ?? '')) as Promise<never>,
    },
    component: 'settings-reload',
    instance: 'test',
    log: silentLog,
    now: () => new Date(clock.now()),
  })
  const reload = settingsReload({
    file: {
      path: '/etc/cloud-sa.json',
      read() {
        if (file instanceof SettingsError) throw file
        return settingsOf(file)
      },
    },
    table: equinixMetal.table,
    started: settingsOf(first),
    apiKey,
    policy,
    async candidate({ settings }) {
      const token = settings.apiKey.reveal()
      return {
        cloud: {
          async reservations() {
            trials.push(`${token} in ${(settings as { projectId?: string }).projectId}`)
            cloud.answer(token)
            return []
          },
          locations: async () => locations,
        },
        policy: { locationSources: sourcesOf((settings as { metro?: string }).metro) },
      }
    },
    about: pod,
    events: recorder,
    log,
    clock,
  })
  const over = new AbortController()
  reload.start(over.signal)
  await scene({
    reload,
    write: (fields) => (file = fields),
    cloud,
    trials,
    token: () => apiKey.reveal(),
    metro: () => {
      const [source] = policy.locationSources
      return source?.kind === 'setting' ? source.value : undefined
    },
    lines: log.lines,
    events,
    pass: (ms = 5_000) => clock.pass(ms),
  }).finally(() => over.abort())
}

const refusal = new CloudError('Equinix Metal answered 401: Invalid authentication token', {
  fault: 'auth',
  outcome: 'nothing',
})

test('a file that does not change causes no call and no line', () =>
  play(async ({ trials, lines, events, reload, pass }) => {
    await pass(60_000)
    assert.equal([trials, lines, events], [[], [], []])
    assert.is(reload.problem(), undefined)
  }))

test('a token that the provider accepts is applied, and neither its log line nor its Event shows it', () =>
  play(async ({ write, token, trials, lines, events, pass }) => {
    write({ ...first, apiKey: 'second-token' })
    await pass()
    assert.is(token(), 'second-token')
    assert.equal(trials, ['second-token in p'])
    assert.equal(lines, [
      {
        level: 'info',
        fields: { file: '/etc/cloud-sa.json', settings: ['API key'] },
        message: 'settings of the configuration file applied',
      },
    ])
    assert.equal(events, ['Normal SettingsTakenUp: Applied from /etc/cloud-sa.json without a restart: API key'])
    await pass(60_000)
    assert.is(trials.length, 1)
    assert.is(events.length, 1)
  }))

test('an applied setting is reported once it takes effect, and a refused one is not', () =>
  play(async ({ reload, write, metro, pass }) => {
    const told: unknown[] = []
    reload.onChange(() => told.push(metro()))
    write({ ...first, metro: 'nowhere' })
    await pass()
    write({ ...first, metro: 'ny' })
    await pass()
    assert.equal(told, ['ny'])
  }))

test('a token that the provider refuses is not applied, and tried again every 30 s until it is accepted', () =>
  play(async ({ write, cloud, token, trials, lines, reload, pass }) => {
    cloud.answer = () => {
      throw refusal
    }
    write({ ...first, apiKey: 'second-token' })
    await pass(60_000)
    assert.is(token(), 'first-token')
    assert.is(trials.length, 2)
    assert.is(lines.length, 1, 'one line, however often')
    assert.match(reload.problem() ?? '', '/etc/cloud-sa.json was not applied: Equinix Metal answered 401')
    assert.not(reload.isTakenUp())
    cloud.answer = () => {}
    await pass(30_000)
    assert.is(token(), 'second-token')
    assert.is(reload.problem(), undefined)
  }))

test('another token than the refused one is tried at once', () =>
  play(async ({ write, cloud, token, pass }) => {
    cloud.answer = (tried) => {
      if (tried === 'wrong-token') throw refusal
    }
    write({ ...first, apiKey: 'wrong-token' })
    await pass()
    write({ ...first, apiKey: 'right-token' })
    await pass()
    assert.is(token(), 'right-token')
  }))

test('when the file is as before, a refused token is no longer a problem', () =>
  play(async ({ write, cloud, reload, trials, pass }) => {
    cloud.answer = () => {
      throw refusal
    }
    write({ ...first, apiKey: 'wrong-token' })
    await pass()
    write(first)
    await pass(60_000)
    assert.is(reload.problem(), undefined)
    assert.is(trials.length, 1)
  }))

const refused =
  'Warning SettingsRefused: /etc/cloud-sa.json was not applied, and the settings stay as they were. ' +
  'Correct it in the Secret that it is mounted from, or restore it there: '

test('a token that stays refused for a day is one Event, counted on often enough that the API server keeps it', () =>
  play(async ({ write, cloud, events, pass }) => {
    cloud.answer = () => {
      throw refusal
    }
    write({ ...first, apiKey: 'second-token' })
    await pass()
    assert.equal(events, [`${refused}${refusal.message}`])
    await pass(24 * 3_600_000)
    assert.equal([...new Set(events)], [`${refused}${refusal.message}`])
    assert.ok(events.length > 24 && events.length <= 145, `${events.length} times`)
  }))

test('a file that stays broken is counted no more often, although it is read every 5 s', () =>
  play(async ({ write, events, lines, pass }) => {
    const right = 'it must be a readable file'
    write(new SettingsError([{ setting: 'configuration file', source: '/etc/f', wrong: 'is not JSON', right }]))
    await pass(3_600_000)
    assert.equal([...new Set(events)], [`${refused}configuration file: /etc/f is not JSON; ${right}`])
    assert.is(events.length, 2)
    assert.is(lines.length, 1)
  }))

test('a refused token that comes back after the right one is a line at once, and the Event that there is still says it', () =>
  play(async ({ write, cloud, events, lines, pass }) => {
    cloud.answer = (tried) => {
      if (tried === 'wrong-token') throw refusal
    }
    for (const apiKey of ['wrong-token', 'first-token', 'wrong-token']) {
      write({ ...first, apiKey })
      await pass()
    }
    assert.is(events.length, 1)
    assert.is(lines.length, 2)
  }))

test('our own error is reported only by its name: its text might quote the token', () =>
  play(async ({ write, cloud, events, pass }) => {
    cloud.answer = (tried) => {
      throw new TypeError(`Invalid character in header content: ${tried}`)
    }
    write({ ...first, apiKey: 'second-token' })
    await pass()
    assert.equal(events, [`${refused}unexpected TypeError`])
  }))

test('a location that the provider has is applied', () =>
  play(async ({ write, metro, pass }) => {
    write({ ...first, metro: 'ny' })
    await pass()
    assert.is(metro(), 'ny')
    write({ apiKey: 'first-token', projectID: 'p' })
    await pass()
    assert.is(metro(), undefined)
  }))

test('a location that the provider does not have is refused with those that it has', () =>
  play(async ({ write, metro, reload, pass }) => {
    write({ ...first, metro: 'nyc' })
    await pass()
    assert.is(metro(), 'da')
    assert.match(reload.problem() ?? '', 'setting METAL_METRO_NAME: "nyc" is not a known metro')
  }))

test('a wrong file changes nothing, and the problem names every mistake', () =>
  play(async ({ write, token, reload, lines, trials, pass }) => {
    const right = 'it must be a readable file'
    write(
      new SettingsError([{ setting: 'configuration file', source: '/etc/cloud-sa.json', wrong: 'is not JSON', right }]),
    )
    await pass(60_000)
    assert.is(token(), 'first-token')
    assert.equal(trials, [])
    assert.is(lines.length, 1)
    assert.match(reload.problem() ?? '', 'is not JSON')
    write(first)
    await pass()
    assert.is(reload.problem(), undefined)
  }))

test('a setting that needs a restart is named, and the token is tried in the project that the process uses', () =>
  play(async ({ write, token, trials, reload, lines, events, pass }) => {
    write({ ...first, apiKey: 'second-token', projectID: 'q' })
    await pass(60_000)
    assert.is(token(), 'second-token')
    assert.equal(trials, ['second-token in p'])
    assert.equal(reload.needRestart(), ['project'])
    assert.is(reload.problem(), '/etc/cloud-sa.json has settings that need a restart: project')
    assert.is(lines.filter(({ level }) => level === 'warn').length, 1)
    assert.equal(
      [...new Set(events)],
      [
        'Warning SettingsNeedRestart: /etc/cloud-sa.json has settings that take effect after a restart. Restart the process, or restore them: project',
        'Normal SettingsTakenUp: Applied from /etc/cloud-sa.json without a restart: API key',
      ],
    )
  }))

test.run()
