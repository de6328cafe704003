import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Service } from '../../../kube/objects.ts'
import { addressAnnotation } from '../../../ledger/record/names.ts'
import {
  isShownBy,
  shownAddresses,
  showsAddress,
  showsNone,
  statusAddresses,
  statusTexts,
  statusTextsOf,
} from '../../../ledger/record/address-use.ts'
import { makeService } from '../../builders.ts'

const [four, six, host] = ['203.0.113.1', '2001:DB8::1', 'balancer.example.com']
const ingress = [{ ip: four }, { ip: six }, { hostname: host }]
const requesting = { spec: { ...makeService({}).spec, loadBalancerIP: four } }

/** The answer to each question, in the order of the table in address-use.ts. */
const answers = (service: Service) => ({
  texts: statusTexts(service).join(),
  six: statusTextsOf(service, 'ipv6').join(),
  addresses: statusAddresses(service).join(),
  shows: showsAddress(service, four),
  where: shownAddresses(service, ['example.com/ip']).map(({ address, where }) => `${address} ${where}`),
  isShownBy: isShownBy(service, { address: four }, ['example.com/ip']),
  none: showsNone(service),
})

const nothing = { texts: '', six: '', addresses: '', shows: false, where: [], isShownBy: false, none: true }
const rows: [what: string, more: Partial<Service>, expected: Partial<ReturnType<typeof answers>>][] = [
  ['nothing', {}, {}],
  [
    'a status with a name',
    { status: { loadBalancer: { ingress } } },
    {
      texts: `${four},${six},${host}`,
      six,
      addresses: `${four},2001:db8::1`,
      shows: true,
      where: [`${four} status.loadBalancer`, '2001:db8::1 status.loadBalancer'],
      isShownBy: true,
      none: false,
    },
  ],
  ['a request in its spec', requesting, { where: [`${four} spec.loadBalancerIP`], isShownBy: true, none: false }],
  [
    'requests in annotations',
    {
      metadata: {
        ...makeService({}).metadata,
        annotations: { [addressAnnotation]: four, 'example.com/ip': ` ${six}` },
      },
    },
    { where: [`${four} annotation ${addressAnnotation}`, '2001:db8::1 annotation example.com/ip'], isShownBy: true },
  ],
  ['a request that no LoadBalancer makes', { spec: { ...requesting.spec, type: 'ClusterIP' } }, { none: false }],
]
for (const [what, more, expected] of rows)
  test(`a Service with ${what} shows and requests what the table says`, () =>
    assert.equal(answers({ ...makeService({}), ...more }), { ...nothing, ...expected }))

test.run()
