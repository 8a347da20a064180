import { hash } from 'node:crypto';
import type { StoreFacts } from '../../gateway/store/postgres/lease/candidate.ts';
import { readMachineKeys } from '../../home/machine-key.ts';
import { findOperatorToken } from '../../home/operator-token.ts';
import type { DaemonOptions } from '../daemon-options.ts';

type Home = Pick<DaemonOptions, 'home' | 'environment'>;

/**
 * Throws, in words, if this home could not take over without ending logins: the key that the secrets of the database are
 * encrypted with, and the operator token, must be those of the other homes.
 */
export async function requireSameSecrets(own: Home, facts: StoreFacts): Promise<void> {
  for (const text of await otherSecrets(own, facts)) throw new Error(`${text}. ${COPY_SECRETS}`);
}

/** What of the two this home has otherwise, in words. */
export async function otherSecrets(
  { home, environment }: Home,
  { machineKeyId, tokenDigest }: StoreFacts,
): Promise<string[]> {
  const keys = await readMachineKeys(home, environment);
  const token = await findOperatorToken(home);
  return [
    ...(machineKeyId === undefined || keys.some(({ id }) => id === machineKeyId)
      ? []
      : [
          `This home cannot read the secrets of the database: they are encrypted with the key ${machineKeyId}, but ${keys.length === 0 ? `${home} has no file headgate-key` : 'its headgate-key is another one'}`,
        ]),
    ...(tokenDigest === undefined || (token !== undefined && hash('sha256', token, 'hex') === tokenDigest)
      ? []
      : [
          `The operator token of this home is not the one of the active daemon, so taking over would end logins: ${token === undefined ? `${home} has no file token` : 'its file token is another one'}`,
        ]),
  ];
}

export const COPY_SECRETS =
  'Copy headgate-key and token from the home of the active daemon, with mode 0600 (docs/operating.md, "Two machines, one active").';
