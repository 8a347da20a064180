import { GatewayError } from '../../../../protocol/errors.ts';
import type { sharingContracts } from '../../../../protocol/methods/conversation/sharing.ts';
import type { storedContracts } from '../../../../protocol/methods/conversation/stored.ts';
import type { Handlers } from '../../call.ts';
import { type Viewer, viewerOf } from '../../sharing/perception.ts';
import type { Sharing } from '../../sharing/sharing.ts';
import { NoRoom } from '../../workstreams/closing.ts';
import { MAIN, unknownWorkstream } from '../../workstreams/session-keys.ts';
import { readByKeyAnywhere } from '../../workstreams/workstream-rows.ts';
import type { Workstreams } from '../../workstreams/workstreams.ts';

interface StoredMethodDeps {
  workstreams: Workstreams;
  sharing: Sharing;
}

/** The methods for workstreams that need not be loaded. */
export const storedMethods = ({
  workstreams,
  sharing,
}: StoredMethodDeps): Handlers<keyof typeof storedContracts | keyof typeof sharingContracts> => ({
  'workstream.share': ({ wsId, ...change }, call) => sharing.change(wsId, change, call),
  'workstream.open': ({ wsId }, call) => open(wsId, viewerOf(call), workstreams),
  'workstream.delete': async ({ wsId }, call) => {
    const viewer = viewerOf(call);
    // The main session may be at another machine than the one to delete.
    if ((await workstreams.lookUp(MAIN, viewer, { read: readByKeyAnywhere }))?.wsId === wsId)
      throw new GatewayError('INVALID_REQUEST', `Cannot delete the main session (${MAIN}).`);
    if (!(await workstreams.remove(wsId, viewer, call.audited()))) throw unknownWorkstream();
    return { deleted: true };
  },
});

type Opened = { wsId: string; name: string; wasOpen: boolean };

/** Loads a stored workstream. Existence is checked first, so that an unknown id unloads no other workstream. */
async function open(wsId: string, viewer: Viewer, workstreams: Workstreams): Promise<Opened> {
  if (!(await workstreams.isStored(wsId, viewer))) throw unknownWorkstream();
  const opened = await workstreams.reopen(wsId, viewer).catch((error: unknown) => {
    throw error instanceof NoRoom ? new GatewayError('RATE_LIMITED', error.message, { cause: error }) : error;
  });
  if (!opened) throw unknownWorkstream(); // deleted meanwhile
  return { wsId, name: opened.workstream.data.name, wasOpen: opened.wasOpen };
}
