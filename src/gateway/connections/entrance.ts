import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Log } from '../../log.ts';
import { whenThere } from '../../timing/when-there.ts';
import type { Authenticator } from '../auth/authenticator.ts';
import type { OriginPolicy } from '../auth/origin-policy.ts';
import { createAdmission } from './admission.ts';
import { tokenOfUpgrade, type UpgradeToken } from './credentials.ts';
import { NO_PLACE, refusalOf, type UpgradeRefusal } from './upgrade.ts';

/**
 * `credential`: that of the request, valid or not. `leaveLobby` frees the place; closing the socket does so too.
 */
export type Entry =
  | { kind: 'admitted'; credential: UpgradeToken; leaveLobby(): void }
  | { kind: 'refused'; refusal: UpgradeRefusal };

interface AskedUpgrade {
  request: IncomingMessage;
  socket: Duplex;
  address: string;
}

interface EntranceDeps {
  authenticator: Pick<Authenticator, 'authenticate'>;
  originPolicy: Pick<OriginPolicy, 'refusalOfHost' | 'isOwn' | 'admitsSocket'>;
  log: Log;
}

/** Decides which upgrade requests get a socket; at once, unless a signature must be checked. */
export function createEntrance({ authenticator, originPolicy, log }: EntranceDeps) {
  const admission = createAdmission();

  const isKnown = ({ token, via }: UpgradeToken): boolean | Promise<boolean> => {
    if (token === undefined) return false;
    const failed = (error: unknown): boolean => {
      log.error({ err: error }, 'the credential of an upgrade could not be checked');
      return false;
    };
    try {
      const principal = authenticator.authenticate(token, via);
      if (!(principal instanceof Promise)) return principal !== undefined;
      return principal.then((known) => known !== undefined, failed);
    } catch (error) {
      return failed(error);
    }
  };

  return ({ request, socket, address }: AskedUpgrade): Entry | Promise<Entry> => {
    const refusal = refusalOf(request, originPolicy);
    if (refusal !== undefined) return { kind: 'refused', refusal };
    const credential = tokenOfUpgrade(request.headers, originPolicy);
    return whenThere(isKnown(credential), (known): Entry => {
      // Places are limited for unauthenticated clients only; a valid credential needs none.
      if (known) return { kind: 'admitted', credential, leaveLobby: () => undefined };
      const leaveLobby = admission.enter(address);
      if (!leaveLobby) return { kind: 'refused', refusal: NO_PLACE };
      socket.on('close', leaveLobby); // also if ws rejects the request and never calls back
      if (socket.destroyed) leaveLobby();
      return { kind: 'admitted', credential, leaveLobby };
    });
  };
}
