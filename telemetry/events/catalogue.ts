/** A reason of the Events that the process records. */
export type EventRow = {
  /** The kinds of the objects that the Events are about. */
  about: string
  types: readonly ('Normal' | 'Warning')[]
  meaning: string
  /** The remedy of a person; absent where there is nothing to do. */
  todo?: string
}

/** Every reason, by its name. A recorder takes no other one, and docs/reference/events.md is made of it. */
export const catalogue = {
  EnsuringLoadBalancer: {
    about: 'Service',
    types: ['Normal'],
    meaning: 'The controller reserves the address, or requests a managed load balancer.',
  },
  EnsuredLoadBalancer: { about: 'Service', types: ['Normal'], meaning: 'The status of the Service shows its address.' },
  SyncLoadBalancerFailed: {
    about: 'Service',
    types: ['Warning'],
    meaning: 'A step for the Service failed, for the reason in the text. It is retried.',
    todo: 'Correct what the text names. If that is the provider, wait.',
  },
  DeletingLoadBalancer: {
    about: 'Service',
    types: ['Normal', 'Warning'],
    meaning: 'The controller withdraws and releases the address. A Warning says what the release waits for.',
  },
  DeletedLoadBalancer: { about: 'Service', types: ['Normal'], meaning: 'The address is withdrawn and released.' },
  AddressInUse: {
    about: 'Service',
    types: ['Warning'],
    meaning: 'A claim or a deletion waits, because this Service still shows the address.',
    todo: 'Delete the Service, or give it another address.',
  },
  SurplusReservation: {
    about: 'Service',
    types: ['Warning'],
    meaning: 'Another reservation has the marks of the Service too. It is kept.',
    todo: 'Decide which one is needed, and delete the other one at the provider.',
  },
  ContradictoryAddress: {
    about: 'Service',
    types: ['Warning'],
    meaning:
      'The provider lists the reservation of the Service with another address, or its address twice. It stays as it is. ' +
      'Or its ElasticIP had the address of another one, and is corrected: then the Service gets the address that the provider lists.',
    todo: 'Ask the vendor what is right. If the address is not yours, delete the Service and create it again.',
  },
  AddressImpaired: {
    about: 'Service',
    types: ['Warning'],
    meaning:
      'The provider says that the address of the Service may not work: it is blocked, or its routers have a problem with it. It stays as it is.',
    todo: 'Ask the vendor why, with the text.',
  },
  NotAvailable: {
    about: 'ElasticIP',
    types: ['Warning'],
    meaning: 'A provisioned or warm address cannot be made available, for the reason in the text.',
    todo: 'Correct the field that the text names.',
  },
  Synced: {
    about: 'Node',
    types: ['Normal'],
    meaning: 'The machine of the node was found, and its facts are written.',
  },
  SyncNodeFailed: {
    about: 'Node',
    types: ['Warning'],
    meaning: 'The machine of the node was not found, or its facts could not be written.',
    todo: 'Correct the name or the providerID that the text names.',
  },
  ServiceAddressOnNode: {
    about: 'Node',
    types: ['Warning'],
    meaning: 'The node has the address of a Service as its own, and loses it when that moves or is released.',
    todo: 'Set --node-ip of its kubelet to an address of the machine.',
  },
  LabelNotPossible: {
    about: 'Node',
    types: ['Warning'],
    meaning: 'The node has no label for the type, region or zone of its machine: a label cannot hold that text.',
    todo: 'Set the label yourself if Pods need it.',
  },
  DeletingNode: {
    about: 'Node',
    types: ['Normal'],
    meaning: 'The controller deletes the node: its machine no longer exists.',
  },
  DeletingNodeFailed: {
    about: 'Node',
    types: ['Warning'],
    meaning: 'The API server refused to delete the node.',
    todo: 'Give the right that the text names.',
  },
  NodeNotDeleted: {
    about: 'Node',
    types: ['Warning'],
    meaning: 'The machine of the node no longer exists, and the node is kept, for the reason in the text.',
    todo: 'Delete the node if you are sure that its machine no longer exists.',
  },
  PeeringFailed: {
    about: 'Node',
    types: ['Warning'],
    meaning: 'BGP could not be set up for the node, or MetalLB refused one of its peers.',
    todo: 'Correct what the text names.',
  },
  OtherCloudController: {
    about: 'Deployment, DaemonSet',
    types: ['Warning'],
    meaning: 'Another cloud controller manager has pods, and writes the same nodes or Services as eip-admission.',
    todo: 'Turn off in one of the two what the text names.',
  },
  PredecessorRuns: {
    about: 'Deployment, DaemonSet',
    types: ['Warning'],
    meaning: 'A program that eip-admission replaces has pods beside it. Both write the same Services.',
    todo: 'Stop it, and whatever starts it again, such as a pipeline that applies its manifest.',
  },
  TooManyAddresses: {
    about: 'Node',
    types: ['Warning'],
    meaning: 'More addresses are announced than the routers accept from one node.',
    todo: 'Ask the provider for a higher limit, or delete Services.',
  },
  AdmissionNotWorking: {
    about: 'MutatingWebhookConfiguration',
    types: ['Warning'],
    meaning: 'The API server does not use the webhooks, for the reason in the text.',
    todo: 'Run `eip-admission doctor`, and do what it says about the webhooks.',
  },
  AdmissionWorking: {
    about: 'MutatingWebhookConfiguration',
    types: ['Normal'],
    meaning: 'The API server uses the webhooks again.',
  },
  RightMissing: {
    about: 'Pod, Namespace',
    types: ['Warning'],
    meaning: 'The API server denies the process a right that it needs.',
    todo: 'Run `install` with its first flags, or upgrade the chart. If a second installation took the rights, remove one.',
  },
  ReserveRefused: {
    about: 'Pod, Namespace',
    types: ['Warning'],
    meaning: 'The provider refuses to reserve an address: its quota is used up, or the token lacks a right.',
    todo: 'Delete reservations that are not needed, ask for a higher quota, or correct the token.',
  },
  SettingsTakenUp: {
    about: 'Pod, Namespace',
    types: ['Normal'],
    meaning: 'The process took up settings of its configuration file, which had changed.',
  },
  SettingsRefused: {
    about: 'Pod, Namespace',
    types: ['Warning'],
    meaning: 'The configuration file changed and is wrong, for the reason in the text. The settings stay as they were.',
    todo: 'Correct the Secret that the file is mounted from: see the guide on changing settings.',
  },
  SettingsNeedRestart: {
    about: 'Pod, Namespace',
    types: ['Warning'],
    meaning: 'The configuration file has changed settings that count after a restart.',
    todo: 'Run `kubectl rollout restart` for the Deployment or DaemonSet of the Pod.',
  },
  ClusterIdInUse: {
    about: 'ConfigMap',
    types: ['Warning'],
    meaning: 'Another cluster uses the same cluster id. Neither of the two reserves or releases anything.',
    todo: 'Decide which cluster owns the addresses: see the guide on backup and restore.',
  },
  OtherProject: {
    about: 'ConfigMap',
    types: ['Warning'],
    meaning:
      'The settings name another project than the ledger remembers, or the project has none of its reservations. Nothing is reserved, released or written off.',
    todo: 'Restore the project and its token, or confirm the project: see the guide on troubleshooting.',
  },
  ProjectConfirmed: {
    about: 'ConfigMap',
    types: ['Normal'],
    meaning:
      'An administrator confirmed another project. The addresses in the previous one are no longer looked after.',
  },
  ClusterTakenOver: {
    about: 'ConfigMap',
    types: ['Normal'],
    meaning: 'The other cluster with this id no longer exists, or an operator overruled it.',
  },
  AddressAssigned: {
    about: 'Service',
    types: ['Normal'],
    meaning: 'With `assign:///`, the provider routes the address to another node, with the reason.',
  },
  MirrorServiceContested: {
    about: 'Service',
    types: ['Warning'],
    meaning: 'Another program undoes the mirror Service of the control-plane address.',
    todo: 'Stop the program that the text names.',
  },
  ControlPlaneAddressMoved: {
    about: 'Node, Service',
    types: ['Normal', 'Warning'],
    meaning: 'The control-plane address moved, with the reason. Normal where its holder was going to leave.',
  },
  ControlPlaneAddressAnswers: {
    about: 'Node, Service',
    types: ['Normal'],
    meaning:
      'After the move, the control-plane address answers where the guardian runs. The text says how long it did not.',
  },
  ControlPlaneAddressSilent: {
    about: 'Node, Service',
    types: ['Warning'],
    meaning: 'After the move, the control-plane address does not answer.',
    todo: 'See whether an interface of the new holder has the address, and whether all API servers are good: kube-proxy may deliver the address to any.',
  },
} as const satisfies Record<string, EventRow>

export type EventReason = keyof typeof catalogue
