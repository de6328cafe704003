import { type AlertGroup, alertsOf, per, perInstall } from './alert.ts'

const guide = { file: 'guides/troubleshooting.md', heading: 'Certificates and clocks' }
const symptom =
  'After that the API server does not call the webhooks: Services get their address later, or are refused.'

/** Certificates that are not renewed. */
export const certificateAlerts: AlertGroup = {
  title: 'Certificates',
  alerts: alertsOf({
    EIPAdmissionCertificateEndsSoon: {
      severity: 'critical',
      for: '15m',
      expr: `min ${per('instance')} (eip_admission_cert_not_after_timestamp_seconds) - time() < 6 * 3600`,
      summary: 'The serving certificate of the webhooks expires within six hours.',
      description:
        'The certificate of {{ $labels.instance }} in namespace {{ $labels.namespace }} expires in {{ $value | humanizeDuration }} and was not renewed.',
      symptom,
      action:
        'Run `kubectl logs` of the leader: it says why it issues none. With cert-manager, run `kubectl describe certificate ' +
        '-n eip-admission`. With `--webhook-cert-lifetime` of a day or less, write your own rule.',
      guide,
    },
    EIPAdmissionAuthorityEndsSoon: {
      severity: 'warning',
      for: '15m',
      expr: `min ${perInstall} (eip_admission_ca_not_after_timestamp_seconds) - time() < 7 * 86400`,
      summary: 'The CA of the webhooks expires within a week.',
      description:
        'The CA through which the API server trusts eip-admission in namespace {{ $labels.namespace }} expires in {{ $value | humanizeDuration }}.',
      symptom,
      action:
        'Run `doctor`: `ca-bundle` says which CA. Check the Secret `eip-admission-ca` and the log of ' +
        'the leader. If `--webhook-ca-lifetime` is less than three times `--webhook-cert-lifetime` plus 24 ' +
        'days (45 days by default), each rotation fires this alert: write your own rule.',
      guide,
    },
  }),
}
