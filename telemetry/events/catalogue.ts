/** A reason of the Events that the process records. */
export type EventRow = {
  /** The kinds of the objects that the Events are about. */
  about: string
  types: readonly ('Normal' | 'Warning')[]
  meaning: string
  /** The remedy for a person; absent if there is nothing to do. */
  todo?: string
}

type Kind = (meaning: string, todo?: string) => Omit<EventRow, 'about'>
const ofTypes = (...types: EventRow['types']): Kind => {
  return (meaning, todo) => ({ types, meaning, ...(todo !== undefined && { todo }) })
}
const [normal, warning, either] = [ofTypes('Normal'), ofTypes('Warning'), ofTypes('Normal', 'Warning')]

function about<R extends string>(kinds: string, rows: Record<R, Omit<EventRow, 'about'>>): Record<R, EventRow> {
  const all = Object.entries<Omit<EventRow, 'about'>>(rows).map(([reason, row]) => [reason, { about: kinds, ...row }])
  return Object.fromEntries(all) as Record<R, EventRow>
}

/** Every reason, by its name. Recorders accept no other, and docs/reference/events.md is generated from this. */
export const catalogue = {
  ...about('Service', {
    EnsuringLoadBalancer: normal('The controller reserves the address, or requests a managed load balancer.'),
    EnsuredLoadBalancer: normal('The status of the Service shows its address.'),
    SyncLoadBalancerFailed: warning(
      'A step for the Service failed, for the reason in the text. eip-admission retries it.',
      'Correct the cause that the text names. If it is the provider, wait.',
    ),
    DeletingLoadBalancer: either(
      'The controller withdraws and releases the address. A Warning says what the release waits for.',
    ),
    DeletedLoadBalancer: normal('The address is withdrawn and released.'),
    AddressInUse: warning(
      'A claim or a deletion waits, because this Service still shows the address.',
      'Delete the Service, or give it another address.',
    ),
    SurplusReservation: warning(
      'Another reservation also has the marks of the Service. eip-admission keeps it.',
      'Decide which one is needed, and delete the other one at the provider.',
    ),
    ContradictoryAddress: warning(
      'The provider lists the reservation of the Service with another address, or its address twice: the ' +
        'Service keeps its address. Or its ElasticIP had the address of another one and was corrected: the ' +
        'Service gets the address that the provider lists.',
      'Ask the vendor what is right. If the address is not yours, delete the Service and create it again.',
    ),
    AddressImpaired: warning(
      'The provider reports that the address may not work: it is blocked, or the routers have a problem with it. The Service keeps its address.',
      'Ask the vendor for the cause, and quote the text.',
    ),
  }),
  ...about('ElasticIP', {
    NotAvailable: warning(
      'A provisioned or warm address cannot be made available, for the reason in the text.',
      'Correct the field that the text names.',
    ),
  }),
  ...about('Node', {
    Synced: normal('eip-admission found the machine of the node, and wrote its addresses and labels.'),
    SyncNodeFailed: warning(
      'eip-admission could not find the machine of the node, or could not update the node.',
      'Correct the name or the providerID that the text names.',
    ),
    ServiceAddressOnNode: warning(
      'The node uses the address of a Service as its own, and loses it when the address moves or is released.',
      "Set its kubelet's --node-ip to an address of the machine.",
    ),
    LabelNotPossible: warning(
      'The type, region or zone of the machine cannot be the value of a label, so the node does not have that label.',
      'Set the label yourself if Pods need it.',
    ),
    DeletingNode: normal('The controller deletes the node: its machine no longer exists.'),
    DeletingNodeFailed: warning('The API server refused to delete the node.', 'Grant the right that the text names.'),
    NodeNotDeleted: warning(
      'The machine of the node no longer exists, but the node is kept, for the reason in the text.',
      'Delete the node if you are sure that its machine no longer exists.',
    ),
    PeeringFailed: warning(
      'BGP could not be set up for the node, or the announcing software refused one of its peers.',
      'Correct what the text names.',
    ),
  }),
  ...about('Deployment, DaemonSet', {
    OtherCloudController: warning(
      'Another cloud controller manager is running, and writes the same nodes or Services as eip-admission.',
      'In one of the two programs, turn off the parts that the text names.',
    ),
    PredecessorRuns: warning(
      'A program that eip-admission replaces is still running. Both write the same Services.',
      'Stop it, and whatever starts it again, such as a pipeline that applies its manifest.',
    ),
  }),
  ...about('Node', {
    TooManyAddresses: warning(
      'The node announces more addresses than the routers accept.',
      'Ask the provider for a higher limit, or delete Services.',
    ),
  }),
  ...about('MutatingWebhookConfiguration', {
    AdmissionNotWorking: warning(
      'The API server does not use the webhooks, for the reason in the text.',
      'Run `eip-admission doctor`, and follow its advice about the webhooks.',
    ),
    AdmissionWorking: normal('The API server uses the webhooks again.'),
  }),
  ...about('Pod, Namespace', {
    RightMissing: warning(
      'The API server denies the process a right that it needs.',
      'Run `install` with its original flags, or upgrade the chart. If a second installation took the rights, remove one.',
    ),
    ReserveRefused: warning(
      'The provider refuses to reserve an address: its quota is used up, or the token lacks a right.',
      'Delete reservations that are not needed, request a higher quota, or correct the token.',
    ),
    SettingsTakenUp: normal('The configuration file changed, and the process uses its new settings.'),
    SettingsRefused: warning(
      'The configuration file changed, but is wrong, for the reason in the text. The process keeps its previous settings.',
      'Correct the Secret that the file is mounted from: see the guide on changing settings.',
    ),
    SettingsNeedRestart: warning(
      'The configuration file has changed settings that take effect after a restart.',
      'Run `kubectl rollout restart` for the Deployment or DaemonSet of the Pod.',
    ),
  }),
  ...about('ConfigMap', {
    ClusterIdInUse: warning(
      'Another cluster uses the same cluster id. Until that is resolved, this cluster reserves and releases nothing.',
      'Decide which cluster owns the addresses: see the guide on backup and restore.',
    ),
    OtherProject: warning(
      'The settings name another project than the ledger remembers, or the project has none of its reservations. eip-admission reserves and releases nothing.',
      'Restore the project and its token, or confirm the project: see the guide on troubleshooting.',
    ),
    ProjectConfirmed: normal(
      'An operator confirmed another project. eip-admission no longer manages the addresses in the previous project.',
    ),
    ClusterTakenOver: normal('The other cluster with this id no longer exists, or an operator overruled it.'),
  }),
  ...about('Service', {
    AddressAssigned: normal(
      'With `assign:///`, the provider routes the address to another node, for the reason in the text.',
    ),
    MirrorServiceContested: warning(
      'Another program keeps reverting the mirror Service of the control-plane address.',
      'Stop the program that the text names.',
    ),
  }),
  ...about('Node, Service', {
    ControlPlaneAddressMoved: either(
      'The control-plane address moved, for the reason in the text. The type is Normal if its holder was about to leave.',
    ),
    ControlPlaneAddressAnswers: normal(
      'After the move, the control-plane address answers the guardian. The text says how long it did not.',
    ),
    ControlPlaneAddressSilent: warning(
      'After the move, the control-plane address does not answer.',
      'Check whether an interface of the new holder has the address. Check that all API servers are healthy, because kube-proxy may route the address to any.',
    ),
  }),
} satisfies Record<string, EventRow>

export type EventReason = keyof typeof catalogue
