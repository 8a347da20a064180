/** `failure`: something that it needs to continue is no longer available. */
type StopKind = 'cancel' | 'shutdown' | 'timeout' | 'failure';

/** Why a running operation must stop: the abort reason throughout a run. */
export class StopReason extends Error {
  override readonly name = 'StopReason';
  readonly kind: StopKind;
  /** A client requested the stop. */
  readonly isByUser: boolean;

  constructor(kind: StopKind, message: string, { isByUser = false }: { isByUser?: boolean } = {}) {
    super(message);
    this.kind = kind;
    this.isByUser = isByUser;
  }
}
