import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { kubeconfigFlags, remedyText, shell, withFlags } from '../../lib/remedy.ts'

const kubeconfig = '/k'

test('each program of a command uses the kubeconfig', () => {
  for (const [command, right] of [
    ['kubectl get eip', 'kubectl --kubeconfig=/k get eip'],
    ['eip-admission install', 'eip-admission install --kubeconfig=/k'],
    ['helm upgrade a manifests/chart', 'helm --kubeconfig=/k upgrade a manifests/chart'],
    ['eip-admission takeover undo', 'eip-admission takeover undo --kubeconfig=/k'],
    ['kubectl eip status', 'kubectl eip status --kubeconfig=/k'],
    [
      'kubectl get crd a -o yaml | grep b | kubectl replace -f -',
      'kubectl --kubeconfig=/k get crd a -o yaml | grep b | kubectl --kubeconfig=/k replace -f -',
    ],
    ['kubectl patch a && kubectl delete a', 'kubectl --kubeconfig=/k patch a && kubectl --kubeconfig=/k delete a'],
    [
      'for pod in $(kubectl get pods); do echo; kubectl get $pod; done',
      'for pod in $(kubectl --kubeconfig=/k get pods); do echo; kubectl --kubeconfig=/k get $pod; done',
    ],
    ['eip-admission serve --help', 'eip-admission serve --help'],
  ] as const) {
    assert.is(remedyText({ command }, { kubeconfig }), right)
    assert.is(withFlags(`Use \`${command}\`:\n  ${command}\n`, { kubeconfig }), `Use \`${right}\`:\n  ${right}\n`)
  }
})

test('a command keeps its text, whose own commands use the kubeconfig too', () => {
  const remedy = shell`kubectl describe eip ${'a'}   # to release it: \`kubectl delete eip ${'a'}\``
  assert.equal(remedy, { command: 'kubectl describe eip a', text: 'to release it: `kubectl delete eip a`' })
  assert.is(
    remedyText(remedy, { kubeconfig }),
    'kubectl --kubeconfig=/k describe eip a   # to release it: `kubectl --kubeconfig=/k delete eip a`',
  )
  assert.equal(shell`kubectl get eip`, { command: 'kubectl get eip' })
})

test('words that only name a program do not change', () => {
  for (const text of [
    'first stop every `eip-admission serve`, then',
    'kubectl eip --help lists the commands.',
    'the annotations `kubectl.kubernetes.io/last-applied-configuration` and `kubectl-client`',
    'Use kubectl or helm.',
    '  do: kubectl is needed',
  ]) {
    assert.is(withFlags(text, { kubeconfig }), text)
    assert.is(remedyText(text, { kubeconfig }), text)
  }
})

test('a command of a takeover has the flags that it takes', () => {
  const takeover = { plan: { '--metro': "d'a" }, apply: { '--webhook-url': 'https://192.0.2.10:10260' }, undo: {} }
  assert.is(
    withFlags(
      'Run `eip-admission takeover apply`, or `eip-admission takeover undo`.\n\n  eip-admission takeover plan\n',
      {
        kubeconfig,
        takeover,
      },
    ),
    'Run `eip-admission takeover apply --kubeconfig=/k --webhook-url=https://192.0.2.10:10260`, or ' +
      "`eip-admission takeover undo --kubeconfig=/k`.\n\n  eip-admission takeover plan --kubeconfig=/k '--metro=d'\\''a'\n",
  )
})

test('a file is quoted as a shell needs it, and without flags nothing changes', () => {
  const text = 'kubectl get eip'
  assert.is(
    remedyText({ command: text }, { kubeconfig: '/my files/$1' }),
    "kubectl '--kubeconfig=/my files/$1' get eip",
  )
  assert.is(remedyText({ command: text }), text)
})

test('each program has a context in its own way, and one that takes none acts nowhere', () => {
  const of = (command: string) => remedyText({ command }, { kubeconfig, context: 'prod' })
  assert.is(of('kubectl get eip'), 'kubectl --kubeconfig=/k --context=prod get eip')
  assert.is(of('kubectl eip list -A'), 'kubectl eip list --kubeconfig=/k --context=prod -A')
  assert.is(of('helm list'), 'helm --kubeconfig=/k --kube-context=prod list')
  assert.is(
    of('eip-admission install --webhook-url=u'),
    "eip-admission install '--kubeconfig=<a file with the current context prod>' --webhook-url=u",
  )
})

test('a kubeconfig of the environment needs no flag', () => {
  const env = { KUBECONFIG: '/k' }
  assert.equal(kubeconfigFlags('/k', env), { kubeconfig: undefined })
  assert.equal(kubeconfigFlags('/other', env), { kubeconfig: '/other' })
  assert.equal(kubeconfigFlags(undefined, {}), { kubeconfig: undefined })
})

test.run()
