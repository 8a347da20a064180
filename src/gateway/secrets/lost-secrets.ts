import type { MachineKey } from '../../home/machine-key.ts';

/** The secrets cannot be decrypted. The message says why, and what to do. */
export class SecretsLost extends Error {
  override readonly name = 'SecretsLost';
}

/** The secrets of a database are damaged, or cannot be decrypted. */
export const lost = (storePath: string, problem: string) =>
  new SecretsLost(
    `The secrets in ${storePath} cannot be decrypted: ${problem}. Restore the database from a backup. ${DISCARD}`,
  );

const DISCARD =
  'Without one, start once with --new-secrets: everybody has to log in again, and older records of the audit trail cannot be verified. Nothing was changed.';

/** The key of the machine is missing, or another one. */
export function toMissing(storePath: string, machineId: string, found: readonly MachineKey[]): SecretsLost {
  const others = found.map(({ path, id }) => `${path} holds the key ${id}`).join(', and ');
  return new SecretsLost(
    `The secrets in ${storePath} are encrypted with the key ${machineId} of this machine, but ${others || 'there is no file headgate-key in the home and no such systemd credential'}. Restore headgate-key from the backup that the database is from. ${DISCARD}`,
  );
}
