import type { Clock } from '../../../clock.ts';

/** So that a service token that is refreshed again and again does not leave many valid secrets behind. */
const MOST = 3;

interface Former {
  tokenId: string;
  tokenHash: string;
  endsMs: number;
}

/**
 * The secrets that refreshed tokens had before. Each works until its own end, for calls that are under way, and for a
 * client that lost the answer with the new one. They are not stored: after a restart, only the newest secret works.
 */
export class FormerSecrets {
  readonly #clock: Pick<Clock, 'now'>;
  #former: readonly Former[] = [];

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** Of each token, the three newest are kept. */
  add(former: Former): void {
    const kept = this.#former.filter(({ endsMs }) => endsMs > this.#clock.now());
    const [oldest, ...newer] = kept.filter(({ tokenId }) => tokenId === former.tokenId);
    const isFull = newer.length + 1 >= MOST;
    this.#former = [...(isFull ? kept.filter((one) => one !== oldest) : kept), former];
  }

  /** The token that had this secret; undefined once that has ended. */
  tokenIdOf(tokenHash: string): string | undefined {
    const found = this.#former.find((one) => one.tokenHash === tokenHash);
    return found && found.endsMs > this.#clock.now() ? found.tokenId : undefined;
  }

  forget(tokenId: string): void {
    this.#former = this.#former.filter((one) => one.tokenId !== tokenId);
  }
}
