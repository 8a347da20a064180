import type { Scope } from '../../../protocol/contract.ts';
import type { Parent } from './parent.ts';

/** Who calls, with the scopes the server granted. Never what a client says of itself. */
export interface Principal {
  id: string;
  scopes: ReadonlySet<Scope>;
  /** How the caller proved it: the machine's operator token, an API token, a browser login (with its JWT id), or auth is off. */
  source:
    | { kind: 'operator' }
    | { kind: 'token'; tokenId: string }
    /** `parent`: what the session was minted by; what it mints hangs below that too. */
    | { kind: 'login'; jti: string; parent: Parent }
    /** A paired node by its token, or a machine that may only ask to become one. */
    | { kind: 'node' | 'unpaired'; nodeId: string }
    | { kind: 'local' };
  /** Aborts when the credential is revoked: open sockets and streams end within a second. */
  revoked: AbortSignal;
}
