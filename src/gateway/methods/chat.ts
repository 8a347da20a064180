import { GatewayError } from '../../../protocol/errors.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import type { chatContracts } from '../../../protocol/methods/chat.ts';
import type { OutputChecks } from '../../agent/output/answer-checks.ts';
import { requireUsable } from '../answers/usable-schema.ts';
import { tooManyForOne } from '../attachments/attachment-errors.ts';
import type { Owner } from '../attachments/attachment-queries.ts';
import type { Attachments } from '../attachments/attachments.ts';
import type { Claim } from '../attachments/claim.ts';
import { decodeInline, type InlineFile } from '../attachments/inline.ts';
import { type Call, type Handlers, keptOf } from '../call.ts';
import { callerOf } from '../caller.ts';
import type { Channels } from '../channels/channels.ts';
import { lastSent } from '../channels/run-delivery.ts';
import { readChatHistory } from '../history/chat-history.ts';
import type { Messages } from '../history/messages.ts';
import { isOver, type RunHandle } from '../runs/run-record.ts';
import type { Runs } from '../runs/runs.ts';
import { type Viewer, viewerOf } from '../sharing/perception.ts';
import type { Store } from '../store/store.ts';
import { effortOfLevel } from '../workstreams/thinking-level.ts';
import type { WorkstreamData } from '../workstreams/workstream-data.ts';
import type { Workstreams } from '../workstreams/workstreams.ts';

interface ChatMethodDeps {
  workstreams: Workstreams;
  runs: Runs;
  messages: Messages;
  attachments: Pick<Attachments, 'claim' | 'list'>;
  outputChecks: Pick<OutputChecks, 'problemOf'>;
  channels: Pick<Channels, 'byName'>;
  /** Used to find where the session's last message went: `deliver` also sends the answer there. */
  store: Pick<Store, 'db'>;
}

const HISTORY = 200;

export const chatMethods = (deps: ChatMethodDeps): Handlers<keyof typeof chatContracts> => ({
  'chat.history': async ({ sessionKey, limit = HISTORY }, call) => {
    const data = await deps.workstreams.lookUp(sessionKey.trim(), viewerOf(call));
    if (!data) return { sessionKey, messages: [], thinkingLevel: 'off' };
    return {
      sessionKey: data.sessionKey,
      sessionId: data.wsId,
      ...(await readChatHistory(data, limit, deps)),
      thinkingLevel: data.thinkingLevel ?? 'medium',
    };
  },
  'chat.send': (params, call) => send(params, call, deps),
  'chat.abort': async ({ sessionKey, runId }, call) => {
    const viewer = viewerOf(call);
    const session = await deps.workstreams.lookUp(sessionKey.trim(), viewer);
    const by = { principal: call.principal?.id ?? 'unknown', viewer };
    const handle = runId && (await findRun(runId, { by, session }, deps));
    const workstream = session && deps.workstreams.find(session.wsId, viewer);
    if (!workstream) return { ok: true, aborted: false }; // a session that is not loaded has no run
    if (runId === undefined) {
      const { wasRunning, queuedMessages } = await workstream.cancel({ force: false });
      return { ok: true, aborted: wasRunning || queuedMessages.count > 0 };
    }
    return { ok: true, aborted: await workstream.cancelRun(handle ? handle.run.runId : runId) };
  },
});

/** Finds a run of the session. Throws INVALID_REQUEST for a run of another session; undefined for an unknown run. */
async function findRun(
  runId: string,
  { by, session }: { by: { principal: string; viewer: Viewer }; session: WorkstreamData | undefined },
  { runs }: ChatMethodDeps,
): Promise<RunHandle | undefined> {
  const own = session && (await runs.find(runId, { ...by, wsId: session.wsId }));
  if (own || !(await runs.find(runId, by))) return own;
  throw new GatewayError('INVALID_REQUEST', 'runId does not match sessionKey');
}

type SendParams = Parameters<Handlers<'chat.send'>['chat.send']>[0];

async function send(
  params: SendParams,
  call: Call,
  { workstreams, runs, channels, store, attachments, outputChecks }: ChatMethodDeps,
) {
  const message = params.message.trim();
  if (message === '' && isBare(params)) throw new GatewayError('INVALID_REQUEST', 'message or attachment required');
  const principal = call.principal?.id ?? 'unknown';
  const by = { principal, viewer: viewerOf(call) };
  const kept = keptOf<{ runId: string; wsId: string }>(call);
  if (kept) return { runId: kept.runId, status: await statusOf(kept, by, runs) };
  const effort = params.thinking === undefined ? undefined : effortOfLevel(params.thinking); // before a session is created
  await requireUsable(params.outputSchema, call, outputChecks);
  const inline = decodeInline(params.attachments ?? []);
  await requireFiles(params, by, { workstreams, attachments });
  const workstream = await workstreams.obtainByKey(params.sessionKey.trim(), by.viewer);
  const { wsId } = workstream.data;
  const deliver = params.deliver ? await lastSent({ wsId, viewer: by.viewer }, { channels, store }) : undefined;
  const claim = isBare(params) ? undefined : await claimAll(attachments, { wsId, principal }, { ...params, inline });
  const handle = await runs.accept(workstream, {
    message,
    claim,
    ...callerOf(call),
    key: params.idempotencyKey,
    source: 'person',
    request: {
      ...(effort && { effort }),
      ...(params.timeoutMs && { timeoutMs: params.timeoutMs }),
      ...(params.outputSchema && { outputSchema: params.outputSchema }),
      ...(deliver && { deliver }),
    },
    also: (runId) => call.keep({ runId, wsId }),
  });
  return { runId: handle.run.runId, status: 'started' as const };
}

const isBare = ({ attachments, attachmentIds }: SendParams): boolean => !attachments?.length && !attachmentIds?.length;

/** Refuses unavailable files before a session is created or loaded for the message. */
async function requireFiles(
  { sessionKey, attachments: inline = [], attachmentIds = [] }: SendParams,
  { principal, viewer }: { principal: string; viewer: Viewer },
  { workstreams, attachments }: Pick<ChatMethodDeps, 'workstreams' | 'attachments'>,
): Promise<void> {
  const ids = new Set(attachmentIds);
  if (ids.size + inline.length > LIMITS.attachmentsPerMessage) throw tooManyForOne();
  if (ids.size === 0) return;
  const session = await workstreams.lookUp(sessionKey.trim(), viewer);
  const waiting = session ? await attachments.list({ wsId: session.wsId, principal, viewer }) : [];
  for (const { attachment_id } of waiting) ids.delete(attachment_id);
  const [missing] = ids;
  if (missing !== undefined) throw unknownAttachment(missing);
}

/** Claims all requested files, or none. */
async function claimAll(
  attachments: Pick<Attachments, 'claim'>,
  owner: Owner,
  { attachmentIds = [], inline }: { attachmentIds?: string[] | undefined; inline: InlineFile[] },
): Promise<Claim> {
  const claim = await attachments.claim(owner, { ids: attachmentIds, inline });
  const [missing] = claim.dropped;
  if (missing === undefined) return claim;
  await claim.abandon();
  throw claim.damaged.includes(missing) ? damagedAttachment(missing) : unknownAttachment(missing);
}

const damagedAttachment = (id: string) =>
  new GatewayError('NOT_FOUND', `The file of attachment ${id} is gone or damaged; upload it again`);

const unknownAttachment = (id: string) => new GatewayError('NOT_FOUND', `Unknown attachment: ${id}`);

/** The answer to a repeat: in progress, or how it ended. */
async function statusOf(
  { runId, wsId }: { runId: string; wsId: string },
  by: { principal: string; viewer: Viewer },
  runs: Runs,
) {
  const handle = await runs.find(runId, { ...by, wsId });
  if (!handle) return 'error' as const;
  if (!(await isOver(handle))) return 'in_flight' as const;
  return (await handle.ended).status === 'ok' ? ('ok' as const) : ('error' as const);
}
