import type { Viewer } from '../../sharing/perception.ts';
import { type Lineage, minterOf, parentOf, toColumns } from '../lineage.ts';
import type { LineageColumns } from '../parent.ts';
import type { Principal } from '../principal.ts';
import type { LoginSessions } from './login-sessions.ts';

/** What something that outlives a connection, such as notifications of a browser, hangs below. */
export interface Holder extends LineageColumns {
  /** The id of the login; empty: another credential. */
  login: string;
  /** Of the user, when it began. */
  version: number;
}

/** What the credential of a holder allows now. */
export interface Standing extends Viewer, Pick<Principal, 'scopes'> {
  /** The login has not expired. */
  isLoggedIn: boolean;
  /** Its person has proved less than five minutes ago who they are. */
  isFresh: boolean;
}

interface HolderDeps {
  /** False: every caller is `local`. */
  enabled: boolean;
  lineage: Lineage;
  users: { versionOf(userId: string): number | undefined };
  sessions: Pick<LoginSessions, 'proofOf'>;
}

/** Without authentication. What began then ends when authentication is switched on. */
const LOCAL = 'local';

/** Finds what callers hang below, and whether that still stands. */
export interface Holders {
  /** Undefined for callers that create nothing lasting, such as nodes. */
  of(principal: Principal): Holder | undefined;
  /**
   * Undefined when the credential, or any above it, was revoked or has expired, or when the logins of its user have ended.
   * The mere expiry of a login ends nothing; its revocation is for whoever stores holders, because it is forgotten.
   */
  standing(holder: Holder): Standing | undefined;
}

export function createHolders({ enabled, lineage, users, sessions }: HolderDeps): Holders {
  const versionOf = (userId: string | undefined) => (userId === undefined ? 0 : users.versionOf(userId));
  return {
    of(principal) {
      const { source, userId } = principal;
      const minter = minterOf(principal);
      const version = versionOf(userId);
      if (minter === undefined || version === undefined) return undefined;
      const login = source.kind === 'login' ? source.jti : source.kind === 'local' ? LOCAL : '';
      return { login, ...toColumns(minter.parent), version };
    },
    standing(holder) {
      const { login, version } = holder;
      const bounds = (login !== LOCAL || !enabled) && lineage.boundsOf(parentOf(holder));
      if (!bounds || Number(version) !== versionOf(bounds.userId)) return undefined;
      const proof = sessions.proofOf(login);
      const isSession = login !== '' && login !== LOCAL;
      const { scopes, permissions, userId } = bounds;
      return {
        scopes,
        permissions,
        ...(userId !== undefined && { userId }),
        isLoggedIn: !isSession || proof !== undefined,
        isFresh: proof?.isFresh ?? false,
      };
    },
  };
}
