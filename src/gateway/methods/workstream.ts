import { GatewayError } from '../../../protocol/errors.ts';
import { isWide } from '../../../protocol/events/modes.ts';
import type { Rule } from '../../../protocol/methods/admin/rule.ts';
import type { WorkstreamRow } from '../../../protocol/methods/conversation/listing.ts';
import type { workstreamContracts } from '../../../protocol/methods/workstream.ts';
import { whenThere } from '../../timing/when-there.ts';
import type { Claim } from '../attachments/claim.ts';
import { type Call, type Handlers, keptOf } from '../call.ts';
import { callerOf, deciderOf, mayApprove, requireApproveFor } from '../caller.ts';
import type { Commands } from '../commands/commands.ts';
import { allowingOf } from '../creation/allowing.ts';
import { type CreationDeps, createWorkstream } from '../creation/create-workstream.ts';
import { type TakingBackDeps, takingBackMethods } from '../cuts/taking-back-methods.ts';
import type { EventLog } from '../events/event-log.ts';
import { toHistory } from '../history/history.ts';
import { isCutShort } from '../history/is-cut-short.ts';
import type { Messages } from '../history/messages.ts';
import type { Notes } from '../history/notes.ts';
import { getReadable, type ReadableWorkstream } from '../history/readable-workstream.ts';
import { shownPage } from '../history/shown-page.ts';
import type { Snapshots } from '../history/snapshot.ts';
import { type ListingDeps, listingMethods } from '../listing/listing-methods.ts';
import { type PortableDeps, portableMethods } from '../portable/portable-methods.ts';
import type { Approvals } from '../runs/approvals.ts';
import type { AcceptOptions, Runs } from '../runs/runs.ts';
import { viewerOf } from '../sharing/perception.ts';
import type { Sharing } from '../sharing/sharing.ts';
import type { Titles } from '../titles/titles.ts';
import type { AlwaysRules } from '../workstreams/always.ts';
import { whileLoaded } from '../workstreams/closing.ts';
import type { Folders } from '../workstreams/folders.ts';
import type { ProjectCommands } from '../workstreams/project-commands.ts';
import { unknownWorkstream } from '../workstreams/session-keys.ts';
import type { Settings } from '../workstreams/settings.ts';
import type { Workstreams } from '../workstreams/workstreams.ts';
import { recordOf } from './approval.ts';
import { storedMethods } from './conversation/stored.ts';

interface WorkstreamMethodDeps extends TakingBackDeps, PortableDeps, ListingDeps, CreationDeps {
  workstreams: Workstreams;
  runs: Runs;
  approvals: Approvals;
  commands: Commands;
  projectCommands: ProjectCommands;
  settings: Settings;
  always: Pick<AlwaysRules, 'grant'>;
  folders: Folders;
  snapshots: Snapshots;
  messages: Messages;
  notes: Notes;
  titles: Pick<Titles, 'refresh'>;
  events: EventLog;
  sharing: Sharing;
}

const PAGE = 100;
const BUSY = 'Already processing a request. Please wait.';
const ASKING = 'Already processing a request that waits for approval. Approve or deny it first.';

export function workstreamMethods(deps: WorkstreamMethodDeps): Handlers<keyof typeof workstreamContracts> {
  const { workstreams, commands, projectCommands, snapshots } = deps;
  return {
    ...listingMethods(deps),
    'workstream.create': (params, call) => createWorkstream(params, call, deps),
    'workstream.retitle': async ({ wsId }, call) => {
      const { data } = await workstreams.get(wsId, viewerOf(call));
      return { title: await deps.titles.refresh(data, callerOf(call).principal, call.signal) };
    },
    'workstream.get': async ({ wsId }, call) => {
      const { cursor, snapshot } = await snapshots.take(await getReadable(wsId, viewerOf(call), workstreams));
      return { cursor, snapshot };
    },
    'workstream.history': async ({ wsId, ...range }, call) =>
      history(await getReadable(wsId, viewerOf(call), workstreams), range, deps),
    'workstream.update': (params, call) => update(params, call, deps),
    'workstream.send': (params, call) => send(params, call, deps),
    'workstream.approve': (params, call) => approve(params, call, deps),
    'workstream.cancel': async ({ wsId, force = false }, call) => {
      const workstream = workstreams.find(wsId, viewerOf(call));
      if (workstream) return { status: 'ok', dropped: await workstream.cancel({ force }) };
      if (await workstreams.isStored(wsId, viewerOf(call))) throw new GatewayError('INVALID_REQUEST', 'No session');
      throw unknownWorkstream();
    },
    'workstream.proceed': async ({ wsId }, call) => {
      const { current, waits, hold } = await workstreams.get(wsId, viewerOf(call));
      const wereWaiting = [current ?? { waits }, ...(current?.agents.running() ?? [])].map((one) => one.waits.tryNow());
      return { status: 'ok', wasWaiting: wereWaiting.includes(true) || hold.send() };
    },
    'workstream.command': async ({ wsId, command }, call) => {
      if (command.trim() === '') throw new GatewayError('INVALID_REQUEST', 'Empty command');
      return whileLoaded(
        () => workstreams.get(wsId, viewerOf(call)),
        async (workstream) => {
          if (await projectCommands.send(workstream, command, callerOf(call))) return { status: 'ok', wsId };
          const error = await commands.run(workstream, command, { ...callerOf(call), viewer: viewerOf(call), call });
          if (/^\/?help$/.test(command.trim())) await projectCommands.explain(workstream);
          return { status: 'ok', wsId, ...(error !== undefined && { error }) };
        },
      );
    },
    'workstream.commands': async ({ wsId }, call) => ({
      commands: await projectCommands.list((await workstreams.get(wsId, viewerOf(call))).data),
    }),
    ...takingBackMethods({ workstreams, rewinds: deps.rewinds, forks: deps.forks, live: deps.live }),
    ...portableMethods({ exports: deps.exports, imports: deps.imports }),
    ...storedMethods({ workstreams, sharing: deps.sharing }),
    'workstream.close': async ({ wsId }, call) => {
      await workstreams.close(wsId, viewerOf(call));
      return { status: 'ok' };
    },
  };
}

type Handled<M extends keyof typeof workstreamContracts> = Handlers<M>[M];

/** The folders decide what is read without approval, so they require the approve scope. */
function requireApproveForFolders(
  { confirmWorkdir, readable }: { confirmWorkdir?: true | undefined; readable?: string[] | undefined },
  call: Call,
): void {
  if ((confirmWorkdir === undefined && readable === undefined) || mayApprove(call)) return;
  throw new GatewayError('FORBIDDEN', 'confirmWorkdir and readable need the approve scope');
}

/** Updates a workstream. A name may also be given to a stored workstream; all other fields need a loaded one. */
async function update(
  {
    wsId,
    name,
    asTitle,
    model,
    effort,
    autoApprove,
    mode,
    confirmWorkdir,
    readable,
  }: Parameters<Handled<'workstream.update'>>[0],
  call: Call,
  { workstreams, settings, folders, always: rules }: WorkstreamMethodDeps,
): Promise<WorkstreamRow> {
  requireApproveFor(autoApprove || isWide(mode), call);
  requireApproveForFolders({ confirmWorkdir, readable }, call);
  const isNameOnly = [model, effort, autoApprove, mode, confirmWorkdir, readable].every((other) => other === undefined);
  const viewer = viewerOf(call);
  const named = name === undefined ? undefined : { text: name, by: viewer, asTitle };
  const stored = isNameOnly && named ? await settings.renameStored(wsId, named) : undefined;
  if (stored) return stored.toRow();
  const workstream = await workstreams.get(wsId, viewer);
  await folders.change(workstream, { isConfirmed: confirmWorkdir === true, readable }, (now) =>
    call.audited({ id: wsId, readable: now, ...(confirmWorkdir && { workdir: workstream.data.workdir }) }),
  );
  const allowing = allowingOf({ autoApprove, mode }, callerOf(call).principal, rules);
  const change = {
    ...(named && { name: named }),
    ...(model !== undefined && { model }),
    ...(effort !== undefined && { thinkingLevel: effort }),
    ...allowing.change,
  };
  await settings.change(workstream, change, allowing.isAny ? call.audited({ id: wsId, ...allowing.recorded }) : []);
  return workstream.data.toRow();
}

interface Range {
  before?: number | undefined;
  limit?: number | undefined;
  withCursor?: boolean | undefined;
}

async function history(
  workstream: ReadableWorkstream,
  { before, limit, withCursor }: Range,
  deps: WorkstreamMethodDeps,
) {
  if (before !== undefined) return page(workstream, { upTo: before - 1, limit }, deps);
  if (!withCursor) return page(workstream, { upTo: workstream.data.messageCount, limit }, deps);
  const { upTo, cursor } = await deps.snapshots.nextPlace(workstream);
  return { ...(await page(workstream, { upTo, limit }, deps)), cursor };
}

async function page(
  { data, current }: ReadableWorkstream,
  { upTo, limit = PAGE }: { upTo: number; limit: number | undefined },
  { messages, notes }: WorkstreamMethodDeps,
) {
  const { wsId, contextAfterSeq: after } = data;
  const stored = await shownPage(messages, wsId, { after, upTo, limit });
  const first = stored[0]?.seq ?? after;
  const truncated = await isCutShort(stored[0]?.seq, { wsId, messages, range: { after, upTo } });
  const told = await notes.page(wsId, { from: truncated ? first : after, upTo });
  return {
    messages: toHistory(stored, current?.pendingApproval()),
    truncated,
    ...(told.length > 0 && { notes: told }),
  };
}

/** Decides approvals. If none is pending, the answer is synchronous. */
function approve(
  {
    wsId,
    approved,
    feedback,
    always = false,
    decisions,
    rules,
    ...named
  }: Parameters<Handled<'workstream.approve'>>[0],
  call: Call,
  { workstreams, approvals }: WorkstreamMethodDeps,
): ReturnType<Handled<'workstream.approve'>> {
  const earlier = keptOf<Decided>(call);
  if (earlier) return earlier; // what is pending now is another question
  const finer = { decisions, choices: rules };
  const decision = { approved, feedback: feedback?.trim() ?? '', always, by: deciderOf(call), ...finer };
  const viewer = viewerOf(call);
  return whenThere(workstreams.findStaying(wsId, viewer) ?? workstreams.get(wsId, viewer), (workstream) => {
    const id = named.approvalId ?? workstream.current?.pendingApproval()?.approvalId;
    // Without a question nothing is decided, and nothing recorded.
    const decided: Decided = id === undefined ? NOTHING_DECIDED : { status: 'ok', approvalId: id };
    const also = (_: string, given: readonly Rule[]) => [
      ...call.keep(decided),
      ...(id === undefined ? [] : recordOf(call, { id, wsId, approved, always, given })),
    ];
    return whenThere(approvals.resolveIn(workstream, decision, { ...named, viewer, also }), () => decided);
  });
}

type Decided = Awaited<ReturnType<Handled<'workstream.approve'>>>;
const NOTHING_DECIDED: Decided = { status: 'ok' };

type Sent = Awaited<ReturnType<Handled<'workstream.send'>>>;

const toFiles = ({ attachments, dropped }: Claim) => ({
  ...(attachments.length > 0 && { attachedIds: attachments.map(({ attachment_id }) => attachment_id) }),
  ...(dropped.length > 0 && { droppedIds: dropped }),
});

async function send(
  {
    wsId,
    message,
    attachmentIds = [],
    queue = false,
    steer = false,
    idempotencyKey,
    clientSendId,
  }: Parameters<Handled<'workstream.send'>>[0],
  call: Call,
  { workstreams, runs, events, attachments }: WorkstreamMethodDeps,
): Promise<Sent> {
  const text = message.trim();
  const kept = await answeredBefore(call, clientSendId, runs);
  if (kept) return { status: 'ok', ...kept };
  const key = clientSendId ?? idempotencyKey;
  const principal = call.principal?.id ?? 'unknown';
  const claim = await attachments.claim({ wsId, principal }, { ids: attachmentIds });
  if (text === '' && claim.attachments.length === 0) throw new GatewayError('INVALID_REQUEST', 'Empty message');
  const workstream = await workstreams.get(wsId, viewerOf(call));
  const files = toFiles(claim);
  let waits: { queued?: true } = {};
  const asked: AcceptOptions = {
    message: text,
    claim,
    ...callerOf(call),
    ...(key !== undefined && { key }),
    source: 'person',
    ...(steer && { request: { steer } }),
    also(runId, to) {
      if (to.busy || to.queue.length > 0) waits = { queued: true };
      return call.keep({ runId, ...waits, ...files });
    },
  };
  const handle = await (queue || steer ? runs.accept(workstream, asked) : runs.acceptIfIdle(workstream, asked));
  if (handle) return { status: 'ok', runId: handle.run.runId, ...waits, ...files };
  events.transient(
    wsId,
    JSON.stringify({ type: 'busy_error', message: workstream.data.state === 'attention' ? ASKING : BUSY }),
  );
  call.momentary(); // nothing was done, so a repeat of the key tries again
  return { status: 'busy' };
}

/** A key has one answer. An id that names the message in its queue is free again when it has left the queue unsent. */
async function answeredBefore(
  call: Call,
  clientSendId: string | undefined,
  runs: Pick<Runs, 'wasTakenBack'>,
): Promise<Omit<Sent, 'status'> | undefined> {
  const kept = keptOf<Omit<Sent, 'status'>>(call);
  const isFree = clientSendId !== undefined && (await runs.wasTakenBack(kept?.runId));
  return isFree ? undefined : kept;
}
