import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { carryKubeconfig } from '../../../commands/doctor/doctor.ts'

test('each command of a remedy uses the kubeconfig of doctor, and no other word changes', () => {
  const of = (fix: string, file = '/k') =>
    carryKubeconfig([{ section: 'Nodes', check: 'c', level: 'error', what: 'kubectl', fix }], file)[0]?.fix
  for (const [fix, right] of [
    ['kubectl get eip', 'kubectl --kubeconfig=/k get eip'],
    ['eip-admission install', 'eip-admission install --kubeconfig=/k'],
    ['helm upgrade a manifests/chart', 'helm --kubeconfig=/k upgrade a manifests/chart'],
    ['eip-admission serve --help', 'eip-admission serve --help'],
    ['restore it; or run: kubectl annotate x', 'restore it; or run: kubectl --kubeconfig=/k annotate x'],
    [
      'kubectl get crd a -o yaml | grep b | kubectl replace -f -   # kubectl is needed',
      'kubectl --kubeconfig=/k get crd a -o yaml | grep b | kubectl --kubeconfig=/k replace -f -   # kubectl is needed',
    ],
    ['kubectl patch a && kubectl delete a', 'kubectl --kubeconfig=/k patch a && kubectl --kubeconfig=/k delete a'],
    [
      'for pod in $(kubectl get pods); do echo; kubectl get $pod; done',
      'for pod in $(kubectl --kubeconfig=/k get pods); do echo; kubectl --kubeconfig=/k get $pod; done',
    ],
  ] as const)
    assert.is(of(fix), right)
  assert.is(of('kubectl get eip', '/my files/$1'), "kubectl '--kubeconfig=/my files/$1' get eip")
})

test.run()
