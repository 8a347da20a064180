import { computed, type ReadonlySignal } from '@preact/signals';
import { DECIDING, type Permission } from '../../../../protocol/methods/accounts/permissions.ts';
import type { AuthStatus } from '../login.ts';
import type { Who } from './who.ts';

interface HeldBy {
  auth: ReadonlySignal<AuthStatus>;
  /** Undefined until the connection is open. */
  who: ReadonlySignal<Who | undefined>;
}

/** What the person may do besides reading and administration. */
export type HeldRights = ReturnType<typeof createHeldRights>;

export function createHeldRights({ auth, who }: HeldBy) {
  const scope = (name: 'write' | 'approve') =>
    computed(() => !auth.value.authEnabled || auth.value.scopes.includes(name));
  /** With the scope and one of these permissions. Before the permissions are known, the scope alone counts. */
  const holder = (anyOf: readonly Permission[], within: ReadonlySignal<boolean>) =>
    computed(() => {
      if (!auth.value.authEnabled) return true;
      const held = who.value?.permissions;
      return within.value && (!held || anyOf.some((one) => held.includes(one)));
    });
  const [write, approve] = [scope('write'), scope('approve')];
  return {
    /** Send messages and change conversations. */
    write,
    createWorkstreams: holder(['workstreams.create'], write),
    closeWorkstreams: holder(['workstreams.close'], write),
    decide: holder(DECIDING, approve),
    deleteConversations: holder(['approve'], approve),
    changeJobs: holder(['approve', 'admin.schedules'], approve),
    /** Decide about memories that wait for a person. */
    releaseMemories: holder([...DECIDING, 'admin.memories'], approve),
    seeServers: holder(['admin.mcp'], approve),
    /** Add, change, install and delete skills. */
    changeSkills: holder(['admin.skills'], approve),
    /** Trust, restrict and stop coordinators. */
    coordinate: holder(['admin.coordinator'], approve),
    /** Decide who may write from chats, and see what was sent there. */
    manageChannels: holder(['admin.users'], approve),
    changeNodes: holder(['approve', 'admin.nodes'], approve),
    /** Their own ones. */
    createTokens: approve,
  };
}
