import { GatewayError } from '../../../protocol/errors.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import type { ChatMessage, chatContracts } from '../../../protocol/methods/chat.ts';
import type { Attachment } from '../../../protocol/stream-events.ts';
import { type Attachments, type Claim, type Owner, tooManyForOne } from '../attachments/attachments.ts';
import { decodeInline, type InlineImage } from '../attachments/inline.ts';
import { type Call, type Handlers, keptOf } from '../call.ts';
import { readLast } from '../channels/outbox-rows.ts';
import type { Store } from '../store/store.ts';
import { type Messages, newestWithin, type StoredMessage } from '../workstreams/history.ts';
import type { Runs } from '../workstreams/runs.ts';
import { effortOfLevel } from '../workstreams/thinking-level.ts';
import type { Workstreams } from '../workstreams/workstreams.ts';

interface ChatMethodDeps {
  workstreams: Workstreams;
  runs: Runs;
  messages: Messages;
  attachments: Pick<Attachments, 'claim' | 'list'>;
  /** For where the session's last message went: `deliver` sends the answer there too, if it went anywhere. */
  store: Pick<Store, 'db'>;
}

const HISTORY = 200;
/** Of one answer's JSON; the oldest messages go first, the newest always stays. */
const HISTORY_CHARS = 768 * 1024;

export const chatMethods = (deps: ChatMethodDeps): Handlers<keyof typeof chatContracts> => ({
  'chat.history': async ({ sessionKey, limit = HISTORY }) => {
    const data = await deps.workstreams.lookUp(sessionKey.trim());
    if (!data) return { sessionKey, messages: [], thinkingLevel: 'off' };
    const range = { after: data.contextAfterSeq, upTo: data.messageCount, limit };
    const stored = await deps.messages.page(data.wsId, range);
    return {
      sessionKey: data.sessionKey,
      sessionId: data.wsId,
      messages: newestWithin(stored.map(toChatMessage), HISTORY_CHARS),
      thinkingLevel: data.thinkingLevel ?? 'medium',
    };
  },
  'chat.send': (params, call) => send(params, call, deps),
  'chat.abort': async ({ sessionKey, runId }, { principal }) => {
    const session = await deps.workstreams.lookUp(sessionKey.trim());
    const workstream = session && deps.workstreams.find(session.wsId);
    if (!workstream) return { ok: true, aborted: false }; // nothing runs in what is not open
    if (runId === undefined) {
      const { wasRunning, queuedMessages } = await workstream.cancel({ force: false });
      return { ok: true, aborted: wasRunning || queuedMessages.count > 0 };
    }
    const handle = await deps.runs.find(runId, { principal: principal?.id ?? 'unknown' });
    if (handle && handle.run.wsId !== workstream.data.wsId) {
      throw new GatewayError('INVALID_REQUEST', 'runId does not match sessionKey');
    }
    return { ok: true, aborted: await workstream.cancelRun(handle?.run.runId ?? runId) };
  },
});

type SendParams = Parameters<Handlers<'chat.send'>['chat.send']>[0];

async function send(params: SendParams, call: Call, { workstreams, runs, store, attachments }: ChatMethodDeps) {
  const message = params.message.trim();
  if (message === '' && isBare(params)) throw new GatewayError('INVALID_REQUEST', 'message or attachment required');
  const principal = call.principal?.id ?? 'unknown';
  const kept = keptOf<{ runId: string; wsId: string }>(call);
  if (kept) return { runId: kept.runId, status: await statusOf(kept, principal, runs) };
  const effort = params.thinking === undefined ? undefined : effortOfLevel(params.thinking); // before a session is made
  const inline = decodeInline(params.attachments ?? []);
  await requireFiles(params, principal, { workstreams, attachments });
  const workstream = await workstreams.obtainByKey(params.sessionKey.trim());
  const { wsId } = workstream.data;
  const last = params.deliver ? await readLast(store, { wsId }) : undefined;
  const claim = isBare(params) ? undefined : await claimAll(attachments, { wsId, principal }, { ...params, inline });
  const handle = await runs.accept(workstream, {
    message,
    claim,
    principal,
    key: params.idempotencyKey,
    source: 'person',
    request: {
      ...(effort && { effort }),
      ...(params.timeoutMs && { timeoutMs: params.timeoutMs }),
      ...(last && { deliver: { provider: last.provider, to: last.destination } }),
    },
    whenBusy: 'queue',
    also: (runId) => call.keep({ runId, wsId }),
  });
  if (!handle) throw new GatewayError('BUSY', 'The session is busy');
  return { runId: handle.run.runId, status: 'started' as const };
}

const isBare = ({ attachments, attachmentIds }: SendParams): boolean => !attachments?.length && !attachmentIds?.length;

/** Refuses, before a session is made or opened for the message, files that it cannot have. */
async function requireFiles(
  { sessionKey, attachments: inline = [], attachmentIds = [] }: SendParams,
  principal: string,
  { workstreams, attachments }: Pick<ChatMethodDeps, 'workstreams' | 'attachments'>,
): Promise<void> {
  const ids = new Set(attachmentIds);
  if (ids.size + inline.length > LIMITS.attachmentsPerMessage) throw tooManyForOne();
  if (ids.size === 0) return;
  const session = await workstreams.lookUp(sessionKey.trim());
  const waiting = session ? await attachments.list({ wsId: session.wsId, principal }) : [];
  for (const { attachment_id } of waiting) ids.delete(attachment_id);
  const [missing] = ids;
  if (missing !== undefined) throw unknownAttachment(missing);
}

/** All that were asked for, or none. */
async function claimAll(
  attachments: Pick<Attachments, 'claim'>,
  owner: Owner,
  { attachmentIds = [], inline }: { attachmentIds?: string[] | undefined; inline: InlineImage[] },
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

/** What a repeat hears: still going, or how it ended. */
async function statusOf({ runId, wsId }: { runId: string; wsId: string }, principal: string, runs: Runs) {
  const handle = await runs.find(runId, { principal, wsId });
  if (!handle) return 'error' as const;
  const result = await Promise.race([handle.ended, Promise.resolve(undefined)]);
  if (!result) return 'in_flight' as const;
  return result.status === 'ok' ? ('ok' as const) : ('error' as const);
}

const toAttachmentPart = ({ attachment_id, filename, mime_type, size_bytes }: Attachment) => ({
  type: 'attachment' as const,
  attachmentId: attachment_id,
  fileName: filename,
  mimeType: mime_type,
  sizeBytes: size_bytes,
});

function toChatMessage({ message, createdMs }: StoredMessage): ChatMessage {
  switch (message.role) {
    case 'user':
      return {
        role: 'user',
        content: [
          ...(message.content === '' && message.attachments ? [] : [{ type: 'text' as const, text: message.content }]),
          ...(message.attachments ?? []).map(toAttachmentPart),
        ],
        timestamp: createdMs,
      };
    case 'assistant':
      return {
        role: 'assistant',
        content: [
          ...(message.reasoning === undefined ? [] : [{ type: 'thinking' as const, thinking: message.reasoning }]),
          ...(message.content === '' ? [] : [{ type: 'text' as const, text: message.content }]),
          ...message.toolCalls.map((call) => ({ type: 'toolCall' as const, ...call })),
        ],
        timestamp: createdMs,
      };
    case 'tool':
      return {
        role: 'toolResult',
        content: [{ type: 'text', text: message.output }],
        timestamp: createdMs,
        toolCallId: message.callId,
        toolName: message.name,
        isError: message.isError,
      };
  }
}
