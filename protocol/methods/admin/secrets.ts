import { z } from 'zod';
import { always, contract } from '../../contract.ts';

/** The keys that encrypt the secrets in the database; never the keys themselves. */
const SecretsStatus = z
  .strictObject({
    /** Identifies the key of the store, which encrypts the secrets. */
    storeKeyId: z.string(),
    /** Identifies the key of this machine, which encrypts the key of the store. */
    machineKeyId: z.string(),
    /** Where the machine's key is: in the home, or in a credential of systemd. */
    machineKey: z.enum(['file', 'credential']),
    /** When the key of the store was made. */
    createdAtMs: z.int().min(0),
    /** The encrypted secrets. */
    names: z.array(z.string()),
  })
  .meta({ id: 'SecretsStatus' });

/** The secrets that the daemon keeps encrypted. */
export const secretsContracts = {
  'secrets.status': contract({
    summary: 'Which keys encrypt the secrets in the database. Never shows a key or a secret.',
    scope: 'approve',
    permission: 'admin.settings',
    params: () => z.strictObject({}).meta({ id: 'SecretsStatusParams' }),
    result: () => SecretsStatus,
  }),
  'secrets.rotate': contract({
    summary: 'Encrypt the secrets in the database with new keys.',
    scope: 'approve',
    permission: 'admin.settings',
    audit: { action: 'secrets.rotate' },
    stepUp: always,
    refusesServices: true,
    params: () =>
      z
        .strictObject({
          /** Also replaces the secret that signs logins: the next start of the daemon ends all logins. Default: false. */
          logins: z.boolean().optional(),
        })
        .meta({ id: 'SecretsRotateParams' }),
    result: () => SecretsStatus,
    serial: () => 'secrets',
  }),
};
