import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { carryClusterFlags, kubeconfigFlags } from '../../lib/cluster-flags.ts'

const kubeconfig = '/k'

test('each command uses the kubeconfig, wherever it begins in a text, and no other word changes', () => {
  for (const [text, right] of [
    ['kubectl get eip', 'kubectl --kubeconfig=/k get eip'],
    ['eip-admission install', 'eip-admission install --kubeconfig=/k'],
    ['helm upgrade a manifests/chart', 'helm --kubeconfig=/k upgrade a manifests/chart'],
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
    [
      'To see it, run `eip-admission cleanup` again.\n',
      'To see it, run `eip-admission cleanup --kubeconfig=/k` again.\n',
    ],
    ['`eip-admission cleanup --yes`', '`eip-admission cleanup --kubeconfig=/k --yes`'],
    ['run `eip-admission takeover undo` instead', 'run `eip-admission takeover undo --kubeconfig=/k` instead'],
    ['To end it, `kubectl delete a`, then', 'To end it, `kubectl --kubeconfig=/k delete a`, then'],
    ['continue: eip-admission takeover apply; or', 'continue: eip-admission takeover apply --kubeconfig=/k; or'],
    ['gone: run eip-admission install', 'gone: run eip-admission install --kubeconfig=/k'],
    ['  log          kubectl logs -n a', '  log          kubectl --kubeconfig=/k logs -n a'],
    ['A list:\n  kubectl delete a\n', 'A list:\n  kubectl --kubeconfig=/k delete a\n'],
    ['is it running? kubectl eip status', 'is it running? kubectl eip status --kubeconfig=/k'],
    [
      'The safe order: 1. kubectl delete a 2. kubectl eip move b --to c 3. create Service c',
      'The safe order: 1. kubectl --kubeconfig=/k delete a 2. kubectl eip move --kubeconfig=/k b --to c 3. create Service c',
    ],
  ] as const)
    assert.is(carryClusterFlags(text, { kubeconfig }), right)
  for (const text of [
    'eip-admission serve --help',
    'first stop every `eip-admission serve`, then',
    'kubectl eip --help lists the commands.',
    'kubectl.kubernetes.io/last-applied-configuration: kubectl-client',
  ])
    assert.is(carryClusterFlags(text, { kubeconfig }), text)
})

test('a file is quoted as a shell needs it, and without flags nothing changes', () => {
  const text = 'kubectl get eip'
  assert.is(carryClusterFlags(text, { kubeconfig: '/my files/$1' }), "kubectl '--kubeconfig=/my files/$1' get eip")
  assert.is(carryClusterFlags(text, {}), text)
})

test('each program has a context in its own way, and one that takes none acts nowhere', () => {
  const of = (text: string) => carryClusterFlags(text, { kubeconfig, context: 'prod' })
  assert.is(of('kubectl get eip'), 'kubectl --kubeconfig=/k --context=prod get eip')
  assert.is(of('kubectl eip list -A'), 'kubectl eip list --kubeconfig=/k --context=prod -A')
  assert.is(of('helm list'), 'helm --kubeconfig=/k --kube-context=prod list')
  assert.is(
    of('run eip-admission install --webhook-url=u'),
    "run eip-admission install '--kubeconfig=<a file with the current context prod>' --webhook-url=u",
  )
})

test('a kubeconfig of the environment needs no flag', () => {
  const env = { KUBECONFIG: '/k' }
  assert.equal(kubeconfigFlags('/k', env), { kubeconfig: undefined })
  assert.equal(kubeconfigFlags('/other', env), { kubeconfig: '/other' })
  assert.equal(kubeconfigFlags(undefined, {}), { kubeconfig: undefined })
})

test.run()
