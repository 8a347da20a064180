import { hash } from 'node:crypto';
import type { StoreFacts } from '../../gateway/store/postgres/lease/candidate.ts';
import { readMachineKeys } from '../../home/machine-key.ts';
import { findOperatorToken } from '../../home/operator-token.ts';
import type { DaemonOptions } from '../daemon-options.ts';

/**
 * Throws, in words, if this home could not take over without ending logins: the key that the secrets of the database are
 * encrypted with, and the operator token, must be those of the other homes.
 */
export async function requireSameSecrets(
  { home, environment }: Pick<DaemonOptions, 'home' | 'environment'>,
  { machineKeyId, tokenDigest }: StoreFacts,
): Promise<void> {
  const keys = await readMachineKeys(home, environment);
  if (machineKeyId !== undefined && !keys.some(({ id }) => id === machineKeyId))
    throw new Error(
      `This home cannot read the secrets of the database: they are encrypted with the key ${machineKeyId}, but ${keys.length === 0 ? `${home} has no file headgate-key` : 'its headgate-key is another one'}. ${COPY}`,
    );
  const token = await findOperatorToken(home);
  if (tokenDigest !== undefined && (token === undefined || hash('sha256', token, 'hex') !== tokenDigest))
    throw new Error(
      `The operator token of this home is not the one of the active daemon, so taking over would end logins: ${token === undefined ? `${home} has no file token` : 'its file token is another one'}. ${COPY}`,
    );
}

const COPY =
  'Copy headgate-key and token from the home of the active daemon, with mode 0600 (docs/operating.md, "Two machines, one active").';
