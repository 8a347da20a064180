import type { GatewayClient } from '../../../protocol/client/ws-client.ts';
import type { Result } from '../../../protocol/index.ts';
import type { Surroundings } from '../../home/home-path.ts';
import { findHostTimeZone } from '../../host-time-zone.ts';
import { readVersion } from '../../version.ts';
import { resolveTarget, type TargetFlags, withClient } from '../connect.ts';
import { toLocal } from '../local-time.ts';
import { toSafeText } from '../terminal/safe-text.ts';

interface SecretsCommand<F = SecretsFlags> {
  flags: F;
  around: Surroundings;
  root: URL;
}

export interface SecretsFlags extends TargetFlags {
  json?: boolean;
}

export interface RotateFlags extends SecretsFlags {
  logins?: boolean;
}

/** Shows which keys encrypt the secrets of the daemon. */
export async function showSecrets(command: SecretsCommand): Promise<void> {
  print(await ask(command, (client) => client.call('secrets.status', {})), command.flags);
}

/** Encrypts the secrets of the daemon with new keys. */
export async function rotateSecrets(command: SecretsCommand<RotateFlags>): Promise<void> {
  const { flags } = command;
  const logins = flags.logins === true;
  const status = await ask(command, (client) => client.call('secrets.rotate', { logins }));
  print(status, flags);
  process.stderr.write(
    status.machineKey === 'file'
      ? 'The keys are replaced. Make a new backup: earlier ones need the headgate-key that is in them.\n'
      : 'The key of the store is replaced. To replace the credential of systemd, see "Secrets" in docs/operating.md.\n',
  );
  if (logins) process.stderr.write('Restart the daemon to end all logins.\n');
}

function print(status: Result<'secrets.status'>, { json }: SecretsFlags): void {
  const { storeKeyId, machineKeyId, machineKey, createdAtMs, names } = status;
  const tz = findHostTimeZone();
  const lines = [
    `secrets      ${toSafeText(names.join(', '))}`,
    `store key    ${toSafeText(storeKeyId)}, made ${toLocal(createdAtMs, { tz })}`,
    `machine key  ${toSafeText(machineKeyId)}, ${machineKey === 'file' ? 'headgate-key in the home' : 'a credential of systemd'}`,
  ];
  process.stdout.write(`${json ? JSON.stringify(status, null, 2) : lines.join('\n')}\n`);
}

async function ask<T>({ flags, around, root }: SecretsCommand, use: (client: GatewayClient) => Promise<T>): Promise<T> {
  const target = await resolveTarget(flags, around);
  return withClient({ target, version: await readVersion(root) }, use);
}
