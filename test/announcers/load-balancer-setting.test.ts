import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { loadBalancer } from '../../announcers/load-balancer-setting.ts'
import { type LoadBalancer, placedText } from '../../announcers/setting.ts'
import { managedSchemes } from '../../clouds/equinix-metal/settings.ts'

const equinixMetal = loadBalancer({ namespaceAlone: 'undecided', managed: managedSchemes })
const cherryServers = loadBalancer({ namespaceAlone: 'crd' })

const undecided: LoadBalancer = {
  kind: 'metallb',
  namespace: 'metallb-system',
  name: 'config',
  peerMode: 'native',
}
const crd: LoadBalancer = { kind: 'metallb-crd', namespace: 'metallb-system', peerMode: 'native' }
const configMap: LoadBalancer = { kind: 'metallb-configmap', namespace: 'metallb-system', name: 'config' }

const right: { text: string; equinixMetal?: LoadBalancer; cherryServers?: LoadBalancer; both?: LoadBalancer }[] = [
  { text: 'none', both: { kind: 'none' } },
  { text: 'metallb:///', both: undecided },
  { text: 'metallb://', both: undecided },
  { text: 'METALLB:///', both: undecided },
  { text: 'metallb:///?crdConfiguration=true', both: crd },
  { text: 'metallb:///?crdConfiguration=false', both: configMap },
  { text: 'metallb:///metallb-system/config', both: configMap },
  { text: 'metallb:///metallb-system/config/', both: configMap },
  { text: 'metallb:///mine/other', both: { kind: 'metallb-configmap', namespace: 'mine', name: 'other' } },
  { text: 'metallb:///metallb-system/config?crdConfiguration=true', both: crd },
  { text: 'metallb:///mine/?crdConfiguration=false', both: { ...configMap, namespace: 'mine' } },
  {
    text: 'metallb:///mine/',
    equinixMetal: { ...undecided, namespace: 'mine' },
    cherryServers: { ...crd, namespace: 'mine' },
  },
  { text: 'metallb:///mine', equinixMetal: { ...undecided, namespace: 'mine' } },
  { text: 'metallb:///?bgp-peer-mode=frr', both: { ...undecided, peerMode: 'frr' } },
  { text: 'metallb:///metallb-system/?bgp-peer-mode=none', cherryServers: { ...crd, peerMode: 'none' } },
  { text: 'metallb:///metallb-system/config?bgp-peer-mode=native', both: undecided },
  { text: 'metallb:///?crdConfiguration=true&bgp-peer-mode=frr', both: { ...crd, peerMode: 'frr' } },
  // As Go reads booleans.
  { text: 'metallb:///?crdConfiguration=True', both: crd },
  { text: 'metallb:///?crdConfiguration=1', both: crd },
  { text: 'kube-vip://', both: { kind: 'kube-vip' } },
  { text: 'kube-vip:///', both: { kind: 'kube-vip' } },
  { text: 'empty://', both: { kind: 'empty', ipAnnotation: undefined } },
  { text: 'empty://?ip-annotation=example.com/ip', both: { kind: 'empty', ipAnnotation: 'example.com/ip' } },
  { text: 'emlb:///da', equinixMetal: { kind: 'managed', scheme: 'emlb', location: 'da' } },
  { text: 'emlb:///SV', equinixMetal: { kind: 'managed', scheme: 'emlb', location: 'sv' } },
]
for (const { text, both, ...expected } of right) {
  const { equinixMetal: inEquinixMetal = both, cherryServers: inCherryServers = both } = expected
  if (inEquinixMetal) {
    test(`${text} in Equinix Metal is ${inEquinixMetal.kind}`, () =>
      assert.equal(equinixMetal.read(text), { value: inEquinixMetal }))
  }
  if (inCherryServers) {
    test(`${text} in Cherry Servers is ${inCherryServers.kind}`, () =>
      assert.equal(cherryServers.read(text), { value: inCherryServers }))
  }
}

const wrong: [text: string, hint: RegExp][] = [
  ['metallb', /one of none, metallb:/],
  ['haproxy://', /one of none, metallb:/],
  ['metallb:metallb-system/config', /three slashes/],
  ['metallb://metallb-system/config', /three slashes/],
  ['emlb://da', /three slashes/],
  ['metallb:///a/b/c', /at most 2 parts/],
  ['metallb:///Not_A_Namespace/config', /namespace/],
  ['metallb:///metallb-system/Not_A_Name', /ConfigMap/],
  ['metallb:///?crdconfiguration=true', /no parameters but crdConfiguration or bgp-peer-mode.*"crdconfiguration"/],
  ['metallb:///?crdConfiguration=yes', /crdConfiguration=true or false/],
  ['metallb:///?bgp-peer-mode=bird', /bgp-peer-mode=native, frr or none/],
  ['metallb:///?crdConfiguration=false&bgp-peer-mode=frr', /no bgp-peer-mode/],
  ['kube-vip:///somewhere', /no path/],
  ['kube-vip://?x=y', /no parameters/],
  ['empty://?ip-annotation=', /ip-annotation=/],
  ['emlb:///DA!', /metro of the load balancers after the slashes: am, da, dc, ny, sg or sv/],
  ['emlb:///', /after the slashes: am, da, dc, ny, sg or sv/],
  ['emlb:///fr', /after the slashes: am, da, dc, ny, sg or sv/],
  ['emlb:///da/ny', /at most 1 parts/],
]
for (const [text, hint] of wrong) {
  test(`${text} is refused with the values that are right`, () => {
    const reading = equinixMetal.read(text)
    assert.ok('right' in reading)
    assert.match(reading.right, hint)
    for (const scheme of ['none', 'metallb:///', 'kube-vip://', 'empty://']) {
      assert.ok(reading.right.includes(scheme), `${reading.right} does not name ${scheme}`)
    }
  })
}

test('a wrong value is answered with managed load balancers where the provider has them', () => {
  const reading = equinixMetal.read('haproxy://')
  assert.match('right' in reading ? reading.right : '', 'emlb:///metro')
})

test('a dialect without managed load balancers neither accepts nor names them', () => {
  const reading = cherryServers.read('emlb:///da')
  assert.ok('right' in reading)
  assert.not.match(reading.right, 'emlb')
})

test('a scheme that is almost right is proposed', () => {
  const reading = equinixMetal.read('metalb:///')
  assert.match('right' in reading ? reading.right : '', /; did you mean metallb\?$/)
  const other = equinixMetal.read('cilium:///')
  assert.not.match('right' in other ? other.right : '', 'did you mean')
})

test('what a command is told of the setting is read alike in every dialect', () => {
  const placed: LoadBalancer[] = [
    { kind: 'metallb-configmap', namespace: 'm', name: 'settings' },
    ...(['native', 'frr', 'none'] as const).flatMap((peerMode): LoadBalancer[] => [
      { kind: 'metallb-crd', namespace: 'm', peerMode },
      { kind: 'metallb', namespace: 'm', name: 'settings', peerMode },
    ]),
    { kind: 'cilium', secretsNamespace: 'c' },
    { kind: 'calico', namespace: 'c' },
  ]
  for (const value of placed)
    for (const format of [equinixMetal, cherryServers]) assert.equal(format.read(placedText(value) ?? ''), { value })
  assert.is(placedText({ kind: 'kube-vip' }), undefined)
})

test.run()
