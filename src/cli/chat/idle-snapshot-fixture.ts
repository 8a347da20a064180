import type { WorkstreamSnapshot } from '../../../protocol/methods/workstream.ts';

/** The main workstream, in which nothing happens. */
export const IDLE_SNAPSHOT: WorkstreamSnapshot = {
  workstream: {
    ...{ wsId: 'w', name: 'main', sessionKey: 'main', state: 'idle', title: null, modelAlias: 'demo' },
    ...{
      skipPermissions: false,
      mode: 'ask',
      messageCount: 4,
      createdMs: 1,
      updatedMs: 2,
      userId: '',
      visibility: 'shared',
    },
  },
  ...{ model: 'demo', workdir: '/work', messages: [], truncated: false, pendingApprovals: [], effort: 'medium' },
};
