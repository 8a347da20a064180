import type { takingBackContracts } from '../../../protocol/methods/conversation/taking-back.ts';
import { type Call, type Handlers, keptOf } from '../call.ts';
import { callerOf } from '../caller.ts';
import type { LiveSettings } from '../live-settings.ts';
import type { RunHandle } from '../runs/run-record.ts';
import { newlyOwned, viewerOf } from '../sharing/perception.ts';
import { whileLoaded } from '../workstreams/closing.ts';
import type { Workstreams } from '../workstreams/workstreams.ts';
import type { Forks } from './forks.ts';
import type { Resender, Rewinds } from './rewinds.ts';

export interface TakingBackDeps {
  workstreams: Pick<Workstreams, 'get'>;
  rewinds: Rewinds;
  forks: Forks;
  live: Pick<LiveSettings, 'visibility'>;
}

type Methods = Handlers<keyof typeof takingBackContracts>;
type Answer<M extends keyof Methods> = Awaited<ReturnType<Methods[M]>>;

/** The methods that take messages back, send them again, or copy the conversation. */
export const takingBackMethods = ({ workstreams, rewinds, forks, live }: TakingBackDeps): Methods => ({
  async 'workstream.rewind'({ wsId, turns, toSeq = 0, files = false, onConflict = 'refuse' }, call) {
    const kept = keptOf<Answer<'workstream.rewind'>>(call);
    if (kept) return kept;
    const target = {
      ...(turns === undefined ? { toSeq } : { turns }),
      ...(files && { files: { onConflict, choices: [] } }),
    };
    const done = await rewinds.rewind(await workstreams.get(wsId, viewerOf(call)), target, (rewound) =>
      call.keep({ status: 'ok', ...rewound }),
    );
    return { status: 'ok', ...done };
  },
  async 'workstream.retry'({ wsId, seq, idempotencyKey }, call) {
    return resend(call, idempotencyKey, (by) =>
      whileLoaded(
        () => workstreams.get(wsId, viewerOf(call)),
        (workstream) => rewinds.retry(workstream, seq, by),
      ),
    );
  },
  async 'workstream.edit'({ wsId, seq, message, idempotencyKey }, call) {
    return resend(call, idempotencyKey, (by) =>
      whileLoaded(
        () => workstreams.get(wsId, viewerOf(call)),
        (workstream) => rewinds.edit(workstream, { seq, message }, by),
      ),
    );
  },
  async 'workstream.remove'({ wsId, seq }, call) {
    if (!call.kept) await rewinds.remove(await workstreams.get(wsId, viewerOf(call)), seq, () => call.keep(OK));
    return OK;
  },
  async 'workstream.fork'({ wsId, seq, name }, call) {
    const kept = keptOf<Answer<'workstream.fork'>>(call);
    if (kept) return kept;
    const made = await forks.fork(
      await workstreams.get(wsId, viewerOf(call)),
      { seq, name, owned: newlyOwned(viewerOf(call), live) },
      (row) => call.keep({ wsId: row.ws_id, name: row.generated_name, messageCount: row.message_count }),
    );
    return { wsId: made.wsId, name: made.name, messageCount: made.messageCount };
  },
});

const OK = { status: 'ok' } as const;

async function resend(
  call: Call,
  key: string | undefined,
  send: (by: Resender) => Promise<RunHandle>,
): Promise<Answer<'workstream.retry'>> {
  const kept = keptOf<Answer<'workstream.retry'>>(call);
  if (kept) return kept;
  const handle = await send({
    ...callerOf(call),
    ...(key !== undefined && { key }),
    also: (runId) => call.keep({ ...OK, runId }),
  });
  return { ...OK, runId: handle.run.runId };
}
