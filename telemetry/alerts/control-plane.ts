import { type AlertGroup, alertsOf, per, perInstall, rises, where } from './alert.ts'
import { cloudCauses } from './cloud.ts'

const guide = { file: 'guides/troubleshooting.md', heading: 'It does not move, or moves often' }
const probes = (selector: string) =>
  `sum ${per('node')} (increase(eip_admission_control_plane_probes_total${selector}[5m]))`

/** The control-plane address: it is not guarded, it cannot move, or it moves too often. */
export const controlPlaneAlerts: AlertGroup = {
  title: 'The control-plane address',
  alerts: alertsOf({
    EIPAdmissionControlPlaneUnguarded: {
      severity: 'critical',
      for: '5m',
      expr:
        `max ${perInstall} (eip_admission_control_plane_leader) == 0\n` +
        // A stopped guardian has no series, but its past ones show that there was one.
        `or max ${perInstall} (max_over_time(eip_admission_control_plane_leader[1d]))\n` +
        `unless max ${perInstall} (eip_admission_control_plane_leader)`,
      summary: 'No guardian can move the control-plane address, or none is running.',
      description: `No guardian ${where} has held its lease for five minutes.`,
      symptom: 'Nothing yet. If the holder fails, the address does not move, and the API server is unreachable.',
      action:
        'Run `kubectl get pods -n eip-admission` and `kubectl get lease -n kube-system eip-admission-control-plane`, and read ' +
        'the logs of the guardians. If you removed them on purpose, silence this alert for a day.',
      guide,
    },
    EIPAdmissionControlPlaneHolderSilent: {
      severity: 'critical',
      for: '1m',
      expr: `max ${perInstall} (eip_admission_control_plane_silent_seconds) > 60`,
      summary: 'The API server that has the control-plane address does not answer, and the address stays there.',
      description: `The holder has not answered the guardian ${where} for {{ $value | humanizeDuration }}.`,
      symptom: '`kubectl` and kubelets do not reach the API server.',
      action: 'Check the API servers: the address moves as soon as another one answers `/readyz` with ok.',
      guide,
    },
    EIPAdmissionControlPlaneProblem: {
      severity: 'critical',
      for: '15m',
      // Only the leader has the problem, and a scrape between two leaders shows none.
      expr: `max ${perInstall} (max_over_time(eip_admission_control_plane_problem[2m])) == 1`,
      quietWhile: [...cloudCauses, 'EIPAdmissionControlPlaneHolderSilent'],
      summary: 'The control-plane address needs an operator.',
      description: `The guardian ${where} cannot continue alone: no candidate, no reservation with the tag, or the provider cannot be reached.`,
      symptom: 'The address does not move when it must.',
      action: 'Run `doctor`, and read the line `[!] control-plane-address` of `/readyz` of the leading guardian.',
      guide,
    },
    EIPAdmissionControlPlaneNoCandidate: {
      severity: 'warning',
      for: '15m',
      expr:
        `count ${perInstall} (${probes('{result="ok"}')} > 0) < 2\n` +
        `and count ${perInstall} (${probes('')} > 0) > 1`,
      summary: 'The control-plane address has no second API server to move to.',
      description: `Of all API servers that the guardians ${where} probe, {{ $value }} answers.`,
      symptom: 'Nothing yet. If the holder fails too, the API server is unreachable.',
      action:
        'Repair the API servers of the other control-plane nodes: the guardians log `probe failed` with the reason.',
      guide,
    },
    EIPAdmissionControlPlaneMovesOften: {
      severity: 'warning',
      for: '0s',
      // A change of a load balancer's origins cuts no connections to the others.
      expr: `sum ${perInstall} (increase(eip_admission_control_plane_moves_total{result="ok",reason!="origins"}[1h])) > 5`,
      summary: 'The control-plane address has moved more than five times within an hour.',
      description: `It moved {{ $value | printf "%.0f" }} times within an hour, by the guardians ${where}.`,
      symptom: 'Every move cuts all connections to the API server.',
      action: 'The Events `ControlPlaneAddressMoved` give the reasons. Another program may also move the address.',
      guide,
    },
    EIPAdmissionControlPlaneMovesFail: {
      severity: 'critical',
      for: '2m',
      expr: rises('eip_admission_control_plane_moves_total{result="error"}', { by: perInstall, window: '15m' }),
      summary: 'The provider does not move the control-plane address.',
      description: `{{ $value | printf "%.0f" }} moves failed within 15 minutes, by the guardians ${where}.`,
      symptom: 'While its holder fails, the API server is unreachable at that address.',
      action:
        'Run `kubectl logs` of the leading guardian: it quotes the provider. Move the address in the console of the provider.',
      guide,
    },
    EIPAdmissionControlPlaneCloudReadOld: {
      severity: 'warning',
      for: '5m',
      // Guardians that do not lead read nothing, and the leader may change all the time.
      expr: `min ${perInstall} (eip_admission_control_plane_cloud_read_age_seconds) > 600`,
      quietWhile: cloudCauses,
      summary: 'The guardians have not read the holder of the control-plane address from the provider for ten minutes.',
      description: `No guardian ${where} has read the provider for {{ $value | humanizeDuration }}.`,
      symptom: 'Nothing yet. The guardians do not notice a manual assignment.',
      action:
        'Run `doctor` with the key of the guardians: `cloud-access` says whether the key and the connection to the provider work.',
      guide,
    },
  }),
}
