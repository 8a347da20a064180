import { computed, type ReadonlySignal } from '@preact/signals';
import { DECIDING, type Permission } from '../../../../protocol/methods/accounts/permissions.ts';
import type { AuthStatus } from '../login.ts';
import type { Who } from './who.ts';

interface HeldBy {
  auth: ReadonlySignal<AuthStatus>;
  /** Undefined until the connection is open. */
  who: ReadonlySignal<Who | undefined>;
}

/** What the person may do for others, besides administration: everything that needs the scope `approve`. */
export type HeldRights = ReturnType<typeof createHeldRights>;

export function createHeldRights({ auth, who }: HeldBy) {
  /** With the scope and one of these permissions. Before the permissions are known, the scope alone counts. */
  const holder = (anyOf: readonly Permission[]) =>
    computed(() => {
      if (!auth.value.authEnabled) return true;
      const held = who.value?.permissions;
      return auth.value.scopes.includes('approve') && (!held || anyOf.some((one) => held.includes(one)));
    });
  return {
    decide: holder(DECIDING),
    deleteConversations: holder(['approve']),
    changeJobs: holder(['approve', 'admin.schedules']),
    changeNodes: holder(['approve', 'admin.nodes']),
    /** Their own ones. */
    createTokens: computed(() => !auth.value.authEnabled || auth.value.scopes.includes('approve')),
  };
}
