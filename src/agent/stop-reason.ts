/** Why something that runs is asked to stop: the abort reason that everything under a run sees. */
export class StopReason extends Error {
  override readonly name = 'StopReason';
  readonly kind: 'cancel' | 'shutdown' | 'timeout';

  constructor(kind: 'cancel' | 'shutdown' | 'timeout', message: string) {
    super(message);
    this.kind = kind;
  }
}
