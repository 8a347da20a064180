/** `failure`: what it needs to go on cannot be had any more. */
type StopKind = 'cancel' | 'shutdown' | 'timeout' | 'failure';

/** What a run is told that a person cancelled. */
export const CANCELLED_BY_USER = 'Cancelled by user';

/** Why something that runs is asked to stop: the abort reason that everything under a run sees. */
export class StopReason extends Error {
  override readonly name = 'StopReason';
  readonly kind: StopKind;

  constructor(kind: StopKind, message: string) {
    super(message);
    this.kind = kind;
  }
}
