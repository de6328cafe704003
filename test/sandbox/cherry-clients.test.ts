// What the vendor's clients need: its Terraform provider, its Python SDK, its Ansible collection and cherryctl.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Fixture, type Json, idsIn, project, team, within, withCherry } from './cherry-fixture.ts'

const servers = `/projects/${project}/servers`
const smallest = { plan: 'B1-1-1gb-20s-shared', region: 'LT-Siauliai' }
const publicKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBYe+GfesnLP06tfLOJWLFnGIJNpgrzLYE2VZhcmrFy0 me@example.com'
const addKey = async ({ call }: Fixture, label = 'laptop') =>
  Number((await call('POST /ssh-keys', { label, key: publicKey })).body['id'])

const rules: { name: string; check: (fixture: Fixture) => Promise<void> }[] = [
  {
    name: 'plan 625 is the smallest virtual server, and has the same body by id and by slug',
    async check({ call }) {
      const { body } = await call('GET /plans/625')
      assert.equal([body['id'], body['slug'], body['type']], [625, smallest.plan, 'vps'])
      assert.equal((await call(`GET /plans/${smallest.plan}`)).body, body)
      const { cpus, memory } = body['specs'] as { cpus: Json; memory: Json }
      assert.equal([cpus['count'], cpus['cores'], memory['total']], [1, 1, 1])
      assert.is((body['available_regions'] as Json[])[0]?.['slug'], 'LT-Siauliai')
    },
  },
  {
    name: 'a plan shows its softwares, and its images are the same; the plan of a server shows none',
    async check({ call, server }) {
      const { body } = await call('GET /plans/625')
      const softwares = (body['softwares'] as { image: Json }[]).map(({ image }) => image)
      const { list } = await call(`GET /plans/${smallest.plan}/images`)
      assert.equal(
        softwares,
        list.map(({ name, slug }) => ({ name, slug })),
      )
      assert.ok(list.some(({ name, slug }) => name === 'Debian 12 64bit' && slug === 'debian_12_64bit'))
      assert.is((await call('GET /plans/cloud_vps_1/images')).status, 404)
      assert.is('softwares' in within((await call(`GET /servers/${server()}`)).body, 'plan'), false)
      assert.ok('softwares' in (await call('GET /plans/625?fields=id,softwares')).body)
    },
  },
  {
    name: 'plans can be filtered by type and by region',
    async check({ call }) {
      const typesOf = async (query: string) => [
        ...new Set((await call(`GET /plans?${query}`)).list.map(({ type }) => type)),
      ]
      assert.equal(await typesOf('type[]=vps'), ['vps'])
      assert.equal(await typesOf('type%5B%5D=baremetal'), ['baremetal'])
      assert.equal(await typesOf('type[]=vps&type[]=baremetal'), ['vps', 'baremetal'])
      assert.equal(await typesOf('type[]=virtual'), [])
      assert.equal(await typesOf('region_id=6'), ['vps', 'baremetal'])
      assert.equal(await typesOf('region_id=99'), [])
    },
  },
  {
    name: 'prebuilt servers are those of a bare metal plan, for a team that exists',
    async check({ call }) {
      const path = 'plans/e5-1650v4/prebuilts?region=LT-Siauliai'
      const [built = {}] = (await call(`GET /teams/${team}/${path}`)).list
      assert.equal([typeof built['id'], built['stock_qty']], ['number', 1])
      assert.ok(built['specs'] && built['pricing'])
      assert.is((await call(`GET /teams/0/${path}`)).status, 404)
      assert.equal((await call(`GET /plans/625/prebuilts`)).list, [])
    },
  },
  {
    name: 'the ids of billing cycles are those of prices',
    async check({ call }) {
      const { list } = await call('GET /cycles')
      const { pricing } = (await call('GET /plans/625')).body as { pricing: Json[] }
      const hourly = list.find(({ id }) => id === pricing[0]?.['id'])
      assert.equal(hourly, { id: 37, name: 'Hourly', slug: 'hourly' })
    },
  },
  {
    name: 'an order names an image by slug; the server shows its name, and both in deployed_image',
    async check({ call }) {
      const ordered = async (image: string) => (await call(`POST ${servers}`, { ...smallest, image })).body
      const debian = await ordered('debian_12_64bit')
      assert.is(debian['image'], 'Debian 12 64bit')
      assert.equal(debian['deployed_image'], { name: 'Debian 12 64bit', slug: 'debian_12_64bit' })
      assert.equal((await ordered('rocky_9_4_64bit'))['deployed_image'], {
        name: 'Rocky 9.4 64bit',
        slug: 'rocky_9_4_64bit',
      })
    },
  },
  {
    name: 'a server whose order has no host name gets one of two words',
    async check({ call }) {
      const names = []
      for (let n = 0; n < 20; n += 1) names.push(String((await call(`POST ${servers}`, smallest)).body['hostname']))
      for (const name of names) assert.match(name, /^[a-z]+-[a-z]+$/)
      assert.is(new Set(names).size, 20)
    },
  },
  {
    name: 'the floating IPs in an order are routed to the new server',
    async check({ call, order }) {
      const { id } = await order()
      const { status, body } = await call(`POST ${servers}`, { ...smallest, ip_addresses: [id] })
      assert.is(status, 201)
      assert.ok(idsIn(body['ip_addresses'] as Json[]).includes(id))
      const ip = (await call(`GET /ips/${String(id)}`)).body
      assert.is(within(ip, 'targeted_to')['id'], body['id'])
      assert.is(within(ip, 'routed_to')['type'], 'primary-ip')
    },
  },
  {
    name: 'an order with an address that is unknown, elsewhere or not floating gets 400 and adds no server',
    async check({ cherry, call, order, server }) {
      const [primary = {}] = (await call(`GET /servers/${server()}/ips`)).list
      const { id: elsewhere } = await order({ region: 'NL-Amsterdam' })
      for (const id of ['ffffffff-ffff-4fff-8fff-ffffffffffff', elsewhere, primary['id']])
        assert.is((await call(`POST ${servers}`, { ...smallest, ip_addresses: [id] })).status, 400)
      assert.is(cherry.control.devices.all().length, 1)
    },
  },
  ...['rebuild', 'reinstall'].map((type) => ({
    name: `${type} changes image, host name, SSH keys and password`,
    async check(fixture: Fixture) {
      const { clock, call, server } = fixture
      const [id, key] = [server(), await addKey(fixture)]
      const wanted = { image: 'debian_12_64bit', hostname: 'again', ssh_keys: [String(key)], password: 'aB3cdefgh' }
      assert.is((await call(`POST /servers/${id}/actions`, { type, ...wanted })).body['status'], 'deploying')
      clock.now += 2000
      const { body } = await call(`GET /servers/${id}`)
      assert.equal([body['status'], body['state'], body['hostname']], ['deployed', 'active', 'again'])
      assert.equal([body['image'], within(body, 'deployed_image')['slug']], ['Debian 12 64bit', 'debian_12_64bit'])
      assert.equal(body['ssh_keys'], [{ id: key, href: `/ssh-keys/${key}` }])
      assert.is(body['password'], 'aB3cdefgh')
    },
  })),
  {
    name: 'a virtual server can be upgraded to another virtual plan, a bare metal one cannot',
    async check({ cherry, call }) {
      const { id } = (await call(`POST ${servers}`, smallest)).body
      const upgrade = (server: unknown, plan: string) =>
        call(`POST /servers/${String(server)}/actions`, { type: 'upgrade', plan })
      const { status, body } = await upgrade(id, 'B1-2-2gb-40s-shared')
      assert.equal([status, within(body, 'plan')['slug'], body['name']], [201, 'B1-2-2gb-40s-shared', 'Cloud VPS 2'])
      assert.is((await upgrade(id, 'amd-ryzen-9950x')).status, 400)
      assert.is((await upgrade(id, 'cloud_vps_1')).status, 400)
      const metal = cherry.control.devices.add({ hostname: 'metal', plan: 'amd-ryzen-9950x' })
      assert.is((await upgrade(metal['id'], 'B1-2-2gb-40s-shared')).status, 400)
    },
  },
  {
    name: 'the user of the token can be read by id too',
    async check({ call }) {
      const { body } = await call('GET /user')
      assert.equal([typeof body['id'], body['country_iso_2']], ['number', 'LT'])
      assert.equal((await call(`GET /users/${String(body['id'])}`)).body, body)
      assert.is((await call('GET /users/1')).status, 404)
    },
  },
  {
    name: 'SSH keys can be added, listed, changed and deleted, and changes get 201',
    async check(fixture) {
      const { call } = fixture
      const id = await addKey(fixture)
      const { body } = await call(`GET /ssh-keys/${id}`)
      assert.equal([body['label'], body['key']], ['laptop', publicKey])
      assert.match(String(body['fingerprint']), /^([0-9a-f]{2}:){15}[0-9a-f]{2}$/)
      assert.equal(idsIn(within(body, 'user')['ssh_keys'] as Json[]), [id])
      assert.equal((await call('GET /ssh-keys')).list, [body])
      const changed = await call(`PUT /ssh-keys/${id}`, { label: 'desktop' })
      assert.equal([changed.status, changed.body['label'], changed.body['key']], [201, 'desktop', publicKey])
      assert.is((await call(`DELETE /ssh-keys/${id}`)).status, 204)
      assert.is((await call(`GET /ssh-keys/${id}`)).status, 404)
    },
  },
  {
    name: 'an SSH key without a label, or one that is none, gets 400',
    async check({ call }) {
      for (const sent of [{ key: publicKey }, { label: 'a' }, { label: 'a', key: 'nothing' }])
        assert.is((await call('POST /ssh-keys', sent)).status, 400)
    },
  },
  {
    name: 'servers and projects list the SSH keys that they use',
    async check(fixture) {
      const { call } = fixture
      const [used] = [await addKey(fixture), await addKey(fixture, 'unused')]
      const { id } = (await call(`POST ${servers}`, { ...smallest, ssh_keys: [used] })).body
      assert.equal(idsIn((await call(`GET /servers/${String(id)}/ssh-keys`)).list), [used])
      assert.equal(idsIn((await call(`GET /projects/${project}/ssh-keys`)).list), [used])
    },
  },
  {
    name: 'a team can be created, renamed and deleted, and has projects of its own',
    async check({ call }) {
      const made = await call('POST /teams', { name: 'lab' })
      assert.is(made.status, 201)
      const path = `/teams/${String(made.body['id'])}`
      assert.equal(within(within(made.body, 'billing'), 'vat'), { amount: 21, valid: false })
      assert.equal((await call(`GET ${path}`)).body, made.body)
      assert.equal(idsIn((await call('GET /teams')).list), [team, made.body['id']])
      const renamed = await call(`PUT ${path}`, { name: 'laboratory' })
      assert.equal([renamed.status, renamed.body['name']], [201, 'laboratory'])
      const { id } = (await call(`POST ${path}/projects`, { name: 'cell' })).body
      assert.equal(idsIn((await call(`GET ${path}/projects`)).list), [id])
      assert.equal(idsIn((await call(`GET /teams/${team}/projects`)).list), [project])
      assert.is((await call(`DELETE ${path}`)).status, 400)
      await call(`DELETE /projects/${String(id)}`)
      assert.is((await call(`DELETE ${path}`)).status, 204)
      assert.is((await call(`GET ${path}`)).status, 404)
    },
  },
  {
    name: 'a server inside an address shows no image, no status and no BGP, unless fields names them',
    async check({ cherry, call, order, server }) {
      const id = server()
      const { id: ip } = await order({ targeted_to: id })
      const hidden = ['bgp', 'image', 'status']
      const inside = async (path: string) => within((await call(`GET ${path}`)).body, 'targeted_to')
      for (const name of hidden) assert.is(name in (await inside(`/ips/${String(ip)}`)), false, name)
      assert.equal(Object.keys(await inside(`/ips/${String(ip)}?fields=ip,id,status`)), ['id', 'status'])
      const server1 = (await call(`GET /servers/${id}`)).body
      for (const one of server1['ip_addresses'] as Json[])
        for (const name of hidden) assert.is(name in within(one, 'targeted_to'), false, name)
      for (const name of hidden) assert.ok(name in server1, name)
      assert.equal(cherry.control.reservations.all(), [(await call(`GET /ips/${String(ip)}`)).body])
    },
  },
  {
    name: 'bare metal shows its VLAN and disks; each server shows its traffic, speed, software and price',
    async check({ cherry, call, server }) {
      const virtual = (await call(`GET /servers/${server()}`)).body
      const { id } = cherry.control.devices.add({ hostname: 'metal', plan: 'amd-ryzen-9950x' })
      const metal = (await call(`GET /servers/${String(id)}`)).body
      for (const name of ['vlan', 'os_raid_level', 'os_disk']) {
        assert.ok(name in metal, name)
        assert.is(name in virtual, false, name)
      }
      for (const { traffic_used_bytes: bytes, software, bandwidth_speed_mbps: speed, pricing } of [virtual, metal]) {
        assert.equal([bytes, software], [0, { addons: [] }])
        assert.equal(Object.keys(speed as Json), ['limit', 'maximum'])
        assert.ok((pricing as Json)['billable_amount'])
      }
      const [primary = {}] = metal['ip_addresses'] as Json[]
      assert.match(String(primary['default_ptr_record']), /^ip-[\d-]+\.002\.ptr\.cherryservers\.net\.$/)
      assert.is(primary['default_a_record'], primary['default_ptr_record'])
      for (const name of ['software', 'network', 'termination_date']) assert.ok(name in within(primary, 'targeted_to'))
    },
  },
]

for (const { name, check } of rules) test(name, () => withCherry({}, check))

test.run()
