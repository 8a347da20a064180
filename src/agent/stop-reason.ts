/** `failure`: what it needs to go on cannot be had any more. */
type StopKind = 'cancel' | 'shutdown' | 'timeout' | 'failure';

/** Why something that runs is asked to stop: the abort reason that everything under a run sees. */
export class StopReason extends Error {
  override readonly name = 'StopReason';
  readonly kind: StopKind;
  /** Somebody asked for it, through a client. */
  readonly isByUser: boolean;

  constructor(kind: StopKind, message: string, { isByUser = false }: { isByUser?: boolean } = {}) {
    super(message);
    this.kind = kind;
    this.isByUser = isByUser;
  }
}
