import type { Conversations } from '../conversations.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import { daemonMethods } from '../methods/admin/daemon.ts';
import { fileMethods } from '../methods/conversation/file.ts';
import { outputMethods } from '../methods/output.ts';
import { usageMethods } from '../methods/usage.ts';
import { createQueueChanges } from '../queue/queue-changes.ts';
import { queueMethods } from '../queue/queue-methods.ts';

type PartDeps = Pick<
  GatewayDeps,
  'store' | 'readOutput' | 'workdirs' | 'workspace' | 'clean' | 'auth' | 'restart' | 'clock'
>;

/** Parts of conversations that are asked for by themselves, the files in their folders, and the daemon itself. */
export const partNouns = (
  { store, readOutput, workdirs, workspace, clean, auth, restart, clock }: PartDeps,
  { records: { messages, budgets, events, checkpoints }, talks: { workstreams }, turns: { runs } }: Conversations,
) => ({
  daemon: { methods: daemonMethods({ restart }) },
  file: { methods: fileMethods({ workstreams, workdirs, workspace, checkpoints, clean }) },
  output: { methods: outputMethods({ workstreams, messages, readOutput }) },
  queue: { methods: queueMethods({ workstreams, runs, changes: createQueueChanges({ store, events }) }) },
  usage: { methods: usageMethods({ store, workstreams, budgets, users: auth.users, clock }) },
});
