/** What an operator may change while the daemon runs. Read it when it is used, and pass the object on, not its values. */
export interface LiveSettings {
  /** How long a question waits for its answer. */
  readonly approvalMs: number;
  /** Workstreams loaded at once. */
  readonly maxWorkstreams: number;
  /** How often the main session has a turn of its own; 0: never. */
  readonly heartbeatMs: number;
  /** What each connection may ask that makes its first request from now on. */
  readonly inbound: InboundLimit;
}

/** So many requests at once, and so many a second from then on. */
export interface InboundLimit {
  burst: number;
  perSecond: number;
}
