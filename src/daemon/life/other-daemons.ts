import type { MachineSessions } from '../../gateway/auth/machines/machine-sessions.ts';
import type { DaemonStore } from '../../gateway/store/daemon-store.ts';
import type { OwnProof } from '../../http/standby/active-daemon.ts';
import type { DaemonOptions } from '../daemon-options.ts';

/** What this process proves itself with to the other daemons of its database; undefined if there can be none. */
export async function proofOf({
  storeUrl,
  ids,
}: Pick<DaemonOptions, 'storeUrl' | 'ids'>): Promise<OwnProof | undefined> {
  if (storeUrl === undefined) return undefined;
  const { createMachineKey } = await import('../../gateway/loaded/loaded-services.ts');
  return { process: ids.secret(8), key: createMachineKey() };
}

/** What other daemons forward to this one. */
export async function machinesOf(
  { shared }: Pick<DaemonStore, 'shared'>,
  proof: OwnProof | undefined,
  { ids }: Pick<DaemonOptions, 'ids'>,
): Promise<MachineSessions | undefined> {
  if (!shared || !proof) return undefined;
  const { createMachineSessions } = await import('../../gateway/loaded/loaded-services.ts');
  return createMachineSessions({ process: proof.process, key: proof.key, findKey: shared.publicKeyOf, ids });
}
