import type { Viewer } from '../sharing/perception.ts';
import type { Principal } from './principal.ts';

/** How a credential came. Browsers attach a cookie by themselves. */
export type CredentialWay = 'bearer' | 'cookie';

/** Finds the principal of a request's credential. */
export interface Authenticator {
  /** False with --no-auth: every caller is `local`. */
  readonly enabled: boolean;
  /**
   * The principal of a bearer token or cookie value; undefined when it is missing, wrong, expired or revoked. Returns a
   * promise only if a signature must be checked. `via`: how it came; default `bearer`.
   */
  authenticate(token: string | undefined, via?: CredentialWay): Principal | undefined | Promise<Principal | undefined>;
  /**
   * A signal that aborts when this principal ends, and is already aborted if it has; undefined for principals that
   * never end.
   */
  endOf(principalId: string): AbortSignal | undefined;
  /** What a principal perceives now, with the rights of now; after its credential has ended, what everyone does. */
  viewerOf(principalId: string): Viewer;
}
