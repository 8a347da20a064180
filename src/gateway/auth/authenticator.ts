import type { Principal } from './principal.ts';

/** Turns what a request carries into who it is. */
export interface Authenticator {
  /** False with --no-auth: everyone is `local`. */
  readonly enabled: boolean;
  /**
   * The principal of a bearer token or cookie value; undefined when it is missing, wrong, expired or revoked. A promise only
   * where a signature has to be checked.
   */
  authenticate(token: string | undefined): Principal | undefined | Promise<Principal | undefined>;
  /** Aborts when nobody acts under this id any more, and is aborted when nobody does; undefined where that never happens. */
  endOf(principalId: string): AbortSignal | undefined;
}
