import { GatewayError } from '../../../protocol/errors.ts';
import type { SessionPreview, SessionRow, sessionsContracts } from '../../../protocol/methods/sessions.ts';
import type { Clock } from '../../clock.ts';
import type { Handlers } from '../call.ts';
import type { Commands } from '../commands/commands.ts';
import { toHistory } from '../history/history.ts';
import type { Messages } from '../history/messages.ts';
import { type Viewer, viewerOf } from '../sharing/perception.ts';
import { MAIN, unknownSession } from '../workstreams/session-keys.ts';
import type { SessionList } from '../workstreams/session-list.ts';
import type { Settings } from '../workstreams/settings.ts';
import { toThinkingLevel, toVerboseLevel } from '../workstreams/thinking-level.ts';
import type { Workstream } from '../workstreams/workstream.ts';
import type { WorkstreamData } from '../workstreams/workstream-data.ts';
import { readByName } from '../workstreams/workstream-rows.ts';
import type { Workstreams } from '../workstreams/workstreams.ts';

interface SessionsMethodDeps {
  workstreams: Workstreams;
  sessions: Pick<SessionList, 'newest'>;
  settings: Settings;
  commands: Pick<Commands, 'startAfresh' | 'compact'>;
  messages: Messages;
  models: { current(): { alias: string } };
  /** Where sessions are stored, for people who ask. */
  storePath: string;
  clock: Clock;
}

export const sessionsMethods = (deps: SessionsMethodDeps): Handlers<keyof typeof sessionsContracts> => ({
  'sessions.list': async ({ limit = MAX_LISTED, activeMinutes }, call) => {
    const nowMs = deps.clock.now();
    const sinceMs = activeMinutes === undefined ? 0 : nowMs - activeMinutes * 60_000;
    const sessions = (await deps.sessions.newest({ viewer: viewerOf(call), sinceMs, limit })).map(toSessionRow);
    return { ts: nowMs, path: deps.storePath, count: sessions.length, defaults: defaultsOf(deps), sessions };
  },
  'sessions.patch': async ({ key, thinkingLevel, verboseLevel }, call) => {
    const change = {
      ...(thinkingLevel !== undefined && { thinkingLevel: thinkingLevel && toThinkingLevel(thinkingLevel) }),
      ...(verboseLevel !== undefined && { verboseLevel: verboseLevel && toVerboseLevel(verboseLevel) }),
    };
    if (key.trim() === '') throw new GatewayError('INVALID_REQUEST', 'key required');
    const workstream = await deps.workstreams.obtainByKey(key.trim(), viewerOf(call));
    await deps.settings.change(workstream, change);
    const { data } = workstream;
    return { ok: true, path: deps.storePath, key: data.sessionKey, entry: toEntry(data) };
  },
  'sessions.reset': async ({ key }, call) => {
    const workstream = await getByKey(key, viewerOf(call), deps);
    await workstream.cancel({ force: false });
    if (!(await deps.commands.startAfresh(workstream))) throw stillActive(key);
    return { ok: true, key: workstream.data.sessionKey, entry: toEntry(workstream.data) };
  },
  'sessions.delete': async ({ key, deleteTranscript }, call) => {
    const viewer = viewerOf(call);
    const found = await deps.workstreams.lookUp(key, viewer);
    if (found?.sessionKey === MAIN)
      throw new GatewayError('INVALID_REQUEST', `Cannot delete the main session (${MAIN}).`);
    if (found === undefined) return { ok: true, key, deleted: false, archived: [] };
    const { wsId, sessionKey } = found;
    const recorded = () => call.audited({ id: wsId }); // the key may be the name of a private one
    if (deleteTranscript) await deps.workstreams.remove(wsId, viewer, recorded());
    else if (deps.workstreams.find(wsId, viewer)) await deps.workstreams.close(wsId, viewer, recorded());
    return { ok: true, key: sessionKey, deleted: true, archived: deleteTranscript ? [] : [wsId] };
  },
  'sessions.compact': async ({ key, maxLines }, call) => {
    const workstream = await getByKey(key, viewerOf(call), deps);
    const compacted = await deps.commands.compact(workstream, maxLines);
    if (!compacted) throw stillActive(key);
    const { kept } = compacted;
    const outcome = kept === undefined ? { compacted: false, reason: 'nothing to drop' } : { compacted: true, kept };
    return { ok: true, key: workstream.data.sessionKey, ...outcome };
  },
  'sessions.preview': async ({ keys, limit, maxChars }, call) => {
    const viewer = viewerOf(call);
    const previews = await Promise.all(
      keys.slice(0, MAX_PREVIEWS).map((key) => previewOf(key, { viewer, limit, maxChars }, deps)),
    );
    return { ts: deps.clock.now(), previews };
  },
  'sessions.resolve': async ({ key, sessionId, label }, call) => {
    const asked = key ?? sessionId ?? label ?? '';
    const by = (key ?? sessionId) === undefined ? { read: readByName } : {};
    const found = await deps.workstreams.lookUp(asked, viewerOf(call), by);
    const fits =
      found && (sessionId === undefined || found.wsId === sessionId) && (label === undefined || found.name === label);
    if (!fits) throw unknownSession(asked);
    return { ok: true, key: found.sessionKey };
  },
});

const MAX_PREVIEWS = 64;
/** The default limit: the answer has to fit into a frame. */
const MAX_LISTED = 1_000;

const stillActive = (key: string) =>
  new GatewayError('UNAVAILABLE', `The session ${key.slice(0, 80)} is still active`, { retryAfterMs: 2_000 });

async function getByKey(key: string, viewer: Viewer, { workstreams }: SessionsMethodDeps): Promise<Workstream> {
  const found = await workstreams.findByKey(key.trim(), viewer, viewer);
  if (found === undefined) throw unknownSession(key);
  return found;
}

type PreviewSize = { viewer: Viewer; limit: number; maxChars: number };

async function previewOf(
  key: string,
  { viewer, limit, maxChars }: PreviewSize,
  deps: SessionsMethodDeps,
): Promise<SessionPreview> {
  const data = await deps.workstreams.lookUp(key, viewer);
  if (data === undefined) return { key, status: 'missing', items: [] };
  const range = { after: data.contextAfterSeq, upTo: data.messageCount, limit };
  const stored = await deps.messages.page(data.wsId, range).catch(orDamaged);
  if (!stored) return { key, status: 'error', items: [] };
  const items = toHistory(stored).flatMap(({ role, content }) =>
    content ? [{ role, text: cut(content, maxChars) }] : [],
  );
  return { key, status: items.length === 0 ? 'empty' : 'ok', items };
}

/** Skips a damaged session, so that it does not hide the others. */
function orDamaged(error: unknown): undefined {
  if (!(error instanceof GatewayError) || error.code !== 'INTERNAL') throw error;
}

const cut = (text: string, chars: number) => (text.length <= chars ? text : `${text.slice(0, chars - 1)}…`);

const toEntry = (data: WorkstreamData) => ({
  sessionId: data.wsId,
  updatedAt: data.updatedMs,
  ...(data.thinkingLevel !== null && { thinkingLevel: data.thinkingLevel }),
  ...(data.verboseLevel !== null && { verboseLevel: data.verboseLevel }),
});

export const defaultsOf = ({ models }: { models: { current(): { alias: string } } }) => ({
  model: models.current().alias,
  contextTokens: null,
});

export function toSessionRow(data: WorkstreamData): SessionRow {
  const status = data.status();
  return {
    key: data.sessionKey,
    kind: 'direct',
    updatedAt: data.updatedMs,
    sessionId: data.wsId,
    ...(data.abortedLastRun && { abortedLastRun: true }),
    ...(data.thinkingLevel !== null && { thinkingLevel: data.thinkingLevel }),
    ...(data.verboseLevel !== null && { verboseLevel: data.verboseLevel }),
    model: data.toRow().modelAlias,
    ...(status && {
      inputTokens: status.prompt_tokens,
      outputTokens: status.completion_tokens,
      totalTokens: status.total_tokens,
      ...(status.context_window > 0 && { contextTokens: status.context_window }),
    }),
  };
}
