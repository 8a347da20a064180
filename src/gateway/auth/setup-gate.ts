import type { Clock } from '../../clock.ts';
import type { Ids } from '../../ids.ts';
import { tokenMatcher } from './token-matcher.ts';

/** Who may create the first user: everybody, or who knows the code; `auto`: everybody for a while. */
export type SetupMode = 'auto' | 'open' | 'code';

/** How long a daemon that others can reach waits for its first user without a code. */
const OPEN_MS = 15 * 60_000;
const CODE_BYTES = 16;

/** Decides whether the first user may be created without the code. */
export interface SetupGate {
  needsCode(): boolean;
  /** Whether it is needed now or later. */
  readonly willNeedCode: boolean;
  /** For this start of the daemon. */
  readonly code: string;
  admits(code: string | undefined): boolean;
}

interface SetupGateDeps {
  mode: SetupMode;
  /** Whether the daemon listens for this machine only. */
  isLoopback: boolean;
  /** Whether other daemons share its database: clients reach it by a standby, too, which may listen anywhere. */
  isShared: boolean;
  clock: Pick<Clock, 'monotonic'>;
  ids: Pick<Ids, 'secret'>;
}

export function createSetupGate({ mode, isLoopback, isShared, clock, ids }: SetupGateDeps): SetupGate {
  const code = ids.secret(CODE_BYTES);
  const isCode = tokenMatcher(code);
  const startedMs = clock.monotonic();
  const willNeedCode = mode === 'code' || (mode === 'auto' && (!isLoopback || isShared));
  const needsCode = () => mode === 'code' || (willNeedCode && clock.monotonic() - startedMs >= OPEN_MS);
  return { code, willNeedCode, needsCode, admits: (given) => !needsCode() || (given !== undefined && isCode(given)) };
}
