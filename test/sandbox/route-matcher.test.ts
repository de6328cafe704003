import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { routeMatcher } from '../../sandbox/clouds/route-matcher.ts'

const cases: { on: string | undefined; call: string; matches: boolean }[] = [
  { on: undefined, call: 'GET /ips/1', matches: true },
  { on: '*', call: 'POST /anything/at/all', matches: true },
  { on: 'GET', call: 'GET /ips/1', matches: true },
  { on: 'get', call: 'GET /ips/1', matches: true },
  { on: 'GET', call: 'POST /ips/1', matches: false },
  { on: '/ips/*', call: 'DELETE /ips/1', matches: true },
  { on: 'GET /ips/{id}', call: 'GET /ips/1', matches: true },
  { on: 'GET /ips/:id', call: 'GET /ips/1', matches: true },
  { on: 'GET /ips/1', call: 'GET /ips/1', matches: true },
  { on: 'GET /ips/1', call: 'GET /ips/2', matches: false },
  { on: 'GET /ips/*', call: 'GET /ips/1/available', matches: false },
  { on: 'GET /ips/**', call: 'GET /ips/1/available', matches: true },
  { on: 'GET /ips/**', call: 'GET /devices/1', matches: false },
  { on: '* /projects/*/ips', call: 'POST /projects/1/ips', matches: true },
]

for (const { on, call, matches } of cases)
  test(`the route ${on ?? '(none)'} ${matches ? 'matches' : 'does not match'} ${call}`, () => {
    const [method = '', path = ''] = call.split(' ')
    assert.is(routeMatcher(on)(method, path), matches)
  })

for (const on of ['PSOT /ips', 'GET /a /b', 'GET POST /a'])
  test(`"${on}" is not a valid route`, () => assert.throws(() => routeMatcher(on), /expected a method, a path or both/))

test.run()
