import { GatewayError } from '../../../../protocol/errors.ts';
import type { secretsContracts } from '../../../../protocol/methods/admin/secrets.ts';
import type { Ids } from '../../../ids.ts';
import { LOGIN_SECRET, MIN_SECRET_BYTES } from '../../auth/secrets.ts';
import type { Handlers } from '../../call.ts';
import { endNotificationsOfLogins } from '../../push/subscription-rows.ts';
import type { Vault } from '../../secrets/vault.ts';

export interface SecretsMethodDeps {
  vault: Pick<Vault, 'status' | 'rotate'>;
  /** The operator chose the secret that signs logins, so that the daemon cannot replace it. */
  isLoginSecretChosen: boolean;
  ids: Pick<Ids, 'secret'>;
}

export const secretsMethods = ({
  vault,
  isLoginSecretChosen,
  ids,
}: SecretsMethodDeps): Handlers<keyof typeof secretsContracts> => ({
  'secrets.status': async () => toStatus(await vault.status()),
  'secrets.rotate': async ({ logins = false }, call) => {
    if (logins && isLoginSecretChosen)
      throw new GatewayError(
        'INVALID_REQUEST',
        'logins: the secret that signs logins comes from HEADGATE_JWT_SECRET; change it there and restart the daemon',
      );
    const replacing: Record<string, string> = logins ? { [LOGIN_SECRET]: ids.secret(MIN_SECRET_BYTES) } : {};
    const ended = logins ? [endNotificationsOfLogins()] : [];
    return toStatus(await vault.rotate(replacing, [...ended, ...call.audited({ logins })]));
  },
});

const toStatus = ({
  storeKeyId,
  machineKeyId,
  isCredential,
  createdAtMs,
  names,
}: Awaited<ReturnType<Vault['status']>>) => ({
  storeKeyId,
  machineKeyId,
  machineKey: isCredential ? ('credential' as const) : ('file' as const),
  createdAtMs,
  names,
});
