import type { Scope } from '../../../protocol/contract.ts';
import type { Permission } from '../../../protocol/methods/accounts/permissions.ts';
import type { Parent } from './parent.ts';
import type { Proof } from './proof.ts';

/** The caller, with the scopes that the server granted. Never based on what a client claims. */
export interface Principal {
  id: string;
  scopes: ReadonlySet<Scope>;
  /** What the roles of its user grant; all permissions for the operator and what hangs below it. */
  permissions: ReadonlySet<Permission>;
  /** The user that it acts for; absent below the operator, for nodes, and when auth is off. */
  userId?: string;
  /**
   * The proof of identity: the operator token, an API token, a browser login (with its JWT id), or none when auth is
   * off.
   */
  source:
    | { kind: 'operator' }
    | { kind: 'token'; tokenId: string }
    /** `parent`: the credential above the session, and above everything created in it. */
    | {
        kind: 'login';
        jti: string;
        parent: Parent;
        /** Of its user, when it started; 0 below the operator. */
        version: number;
        /** A cookie brought it, or a browser refreshed it. */
        browser: boolean;
        proof: Pick<Proof, 'atMs' | 'isFresh'>;
        expiresAtMs: number;
      }
    /** A paired node with its token, or a machine that may only request pairing. */
    | { kind: 'node' | 'unpaired'; nodeId: string }
    /** A person who writes in a chat; the chat service knows who it is. */
    | { kind: 'channel' }
    | { kind: 'local' };
  /** Aborts when the credential ends: revoked, replaced, expired or logged out. Open sockets and streams then end. */
  ended: AbortSignal;
}
