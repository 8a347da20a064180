import { createMachineKey } from '../../gateway/auth/machines/machine-key.ts';
import { createMachineSessions, type MachineSessions } from '../../gateway/auth/machines/machine-sessions.ts';
import type { DaemonStore } from '../../gateway/store/daemon-store.ts';
import type { OwnProof } from '../../http/standby/active-daemon.ts';
import type { DaemonOptions } from '../daemon-options.ts';

/** What this process proves itself with to the other daemons of its database; undefined if there can be none. */
export const proofOf = ({ storeUrl, ids }: Pick<DaemonOptions, 'storeUrl' | 'ids'>): OwnProof | undefined =>
  storeUrl === undefined ? undefined : { process: ids.secret(8), key: createMachineKey() };

/** What other daemons forward to this one. */
export const machinesOf = (
  { shared }: Pick<DaemonStore, 'shared'>,
  proof: OwnProof | undefined,
  { ids }: Pick<DaemonOptions, 'ids'>,
): MachineSessions | undefined =>
  shared &&
  proof &&
  createMachineSessions({ process: proof.process, key: proof.key, findKey: shared.publicKeyOf, ids });
